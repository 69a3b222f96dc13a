/** Of the rules for all paths in presets: below those that callers usually give their own rules. */
export const PRESET_BASE_PRIORITY = -100;
/** Of `**` in the short form: it replaces the one of a preset. */
export const OTHERS_PRIORITY = -50;
/**
 * What presets say about contents: each rule of a caller about contents decides over it. Of directories with secrets, in
 * which files can have names that say more.
 */
export const DIRECTORIES_PRIORITY = -120;
/** Of files with the names of secrets, and of the configuration of git. */
export const SECRETS_PRIORITY = -100;
/** Of names that are often those of examples: only tokens are secret in them. */
export const EXAMPLES_PRIORITY = -90;
/** Of what is no secret in spite of its name. */
export const NO_SECRETS_PRIORITY = -80;
/** Of what is kept because git runs it. */
export const PROTECTED_PRIORITY = -70;
