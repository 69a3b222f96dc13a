/**
 * Limits of a path in bytes, of its UTF-8 or raw form, without the terminating NUL. See path_resolution(7), limits.h.
 */

/** One component (NAME_MAX). */
export const MAX_NAME_BYTES = 255;
/** A path relative to the root of a codebase or workspace, without a leading slash. */
export const MAX_PATH_BYTES = 4096;
/** The target of a symbolic link (PATH_MAX). */
export const MAX_LINK_TARGET_BYTES = 4095;
/** Paths that one request may choose. */
export const MAX_PATHS = 10_000;
