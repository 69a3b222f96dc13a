/** In the name or the content of every file outside of the codebase: of the host, and of another codebase. */
export const CANARY = 'canary-of-the-host';
