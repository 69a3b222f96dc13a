/** What a path may be, in bytes of its UTF-8 or raw form, without a NUL at its end. See path_resolution(7), limits.h. */

/** One component (NAME_MAX). */
export const MAX_NAME_BYTES = 255;
/** From the root of a codebase or of a workspace, without a leading slash. */
export const MAX_PATH_BYTES = 4096;
/** What a symbolic link holds (PATH_MAX). */
export const MAX_LINK_TARGET_BYTES = 4095;
