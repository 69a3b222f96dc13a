/** Limits of a command, its environment and its working directory, shared by the API and the executor. */

/**
 * Maximum bytes of one argument or environment string on Linux, without its NUL (MAX_ARG_STRLEN in linux/binfmts.h).
 */
export const MAX_STRING_BYTES = 128 * 1024 - 1;
/** Maximum bytes of a command in a session, which is no argument of a program. */
export const MAX_SESSION_COMMAND_BYTES = 1024 * 1024;
/** Maximum bytes of all environment variables together, each with "=" and NUL. */
export const MAX_ENV_BYTES = 1024 * 1024;
/** Maximum bytes of a program's name and its arguments together, each with NUL; Linux allows 2 MiB with the environment. */
export const MAX_ARGV_BYTES = 1024 * 1024;
/** Maximum number of the arguments, the program included. */
export const MAX_ARGUMENTS = 16_384;
/** Maximum number of environment variables in a request; the kernel bounds only their bytes. */
export const MAX_VARIABLES = 4096;
/**
 * Maximum number of the variables of a sandbox itself, and of their bytes counted like MAX_ENV_BYTES: they are stored with the
 * records of all sandboxes.
 */
export const MAX_SANDBOX_VARIABLES = 256;
export const MAX_SANDBOX_ENV_BYTES = 64 * 1024;
/** PATH_MAX without its NUL. */
export const MAX_WORKDIR_BYTES = 4095;
/** Source of a regular expression: names that every shell can assign. */
export const ENV_NAME = '[A-Za-z_][A-Za-z0-9_]*';
/** Error text for other names; follows "a key of env". */
export const ENV_NAME_PROBLEM = 'must have letters, digits and "_" only, and no digit first';
/**
 * Bytes of each output stream that Exec returns, unless configured otherwise; further output is read and discarded, so that
 * the command continues.
 */
export const DEFAULT_OUTPUT_BYTES = 8 * 1024 * 1024;
