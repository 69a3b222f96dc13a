/** Maximum number of labels of a sandbox. */
export const MAX_LABELS = 64;
