/** Maximum number of rules in a request, and of UTF-8 bytes of their patterns, permissions and types together. */
export const MAX_RULES = 10_000;
export const MAX_RULES_BYTES = 2 * 1024 * 1024;
/** Maximum number of rules that are compiled: earlier servers stored as many. */
export const MAX_STORED_RULES = 100_000;
export const MAX_PATTERN_BYTES = 4096;
/** Maximum number of patterns in each list of the short form, which are compared with each other. */
export const MAX_SHORT_PATTERNS = 200;
/** Maximum number of globs that one request excludes, and of their UTF-8 bytes together. */
export const MAX_EXCLUDED = 1000;
export const MAX_EXCLUDED_BYTES = 64 * 1024;
/** Maximum number of alternatives of one component after brace expansion. */
export const MAX_ALTERNATIVES = 256;
/** Maximum number of plain names in all rules together; bounds the memory of a rule set (about 200 MB). */
export const MAX_NAMES = 500_000;
/**
 * Maximum number of pattern tokens after brace expansion, in all rules together; bounds the cost of one look-up (about
 * 0.1 s).
 */
export const MAX_TOKENS = 500_000;

/** `message` follows "permissions[i].pattern". */
export class PatternError extends Error {}
