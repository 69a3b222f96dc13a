/** File type bits of st_mode (include/uapi/linux/stat.h). */
export const S_IFMT = 0o170000;
export const S_IFSOCK = 0o140000;
export const S_IFLNK = 0o120000;
export const S_IFREG = 0o100000;
export const S_IFBLK = 0o060000;
export const S_IFDIR = 0o040000;
export const S_IFCHR = 0o020000;
export const S_IFIFO = 0o010000;

export const S_ISUID = 0o4000;
export const S_ISGID = 0o2000;
const S_IXGRP = 0o0010;

export function isDirectory(mode: number): boolean {
  return (mode & S_IFMT) === S_IFDIR;
}

/**
 * The mode of a file after a write or a change of owner, which clear the set-uid bit, and the set-gid bit of a file that
 * its group may execute (chown(2)).
 */
export function withoutSetid(mode: number): number {
  return mode & ~(S_ISUID | (mode & S_IXGRP ? S_ISGID : 0));
}
