/** Limits of a command, its environment and its working directory. The API and the executor hold to them. */

/** One string of a process's arguments or environment on Linux (MAX_ARG_STRLEN in linux/binfmts.h), without its NUL. */
export const MAX_STRING_BYTES = 128 * 1024 - 1;
/** All environment variables together, each with "=" and NUL. */
export const MAX_ENV_BYTES = 1024 * 1024;
/** PATH_MAX without its NUL. */
export const MAX_WORKDIR_BYTES = 4095;
/** Source of a regular expression: names that every shell can assign. */
export const ENV_NAME = '[A-Za-z_][A-Za-z0-9_]*';
/** What is wrong with another name, after "a key of env". */
export const ENV_NAME_PROBLEM = 'must have letters, digits and "_" only, and no digit first';
