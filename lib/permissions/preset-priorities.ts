/** Of the rules for all paths in presets: below those that callers usually give their own rules. */
export const PRESET_BASE_PRIORITY = -100;
/** Of `**` in the short form: it replaces the one of a preset. */
export const OTHERS_PRIORITY = -50;
/**
 * Of secrets in presets. Above the priorities that callers usually give their own rules: a rule that extends a preset
 * reveals a secret only with an explicit higher priority.
 */
export const SECRETS_PRIORITY = 1000;
