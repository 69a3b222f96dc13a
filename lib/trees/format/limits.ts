/** Bytes of the target of a symbolic link. Names are up to 255 bytes: their length is one byte. */
export const MAX_TARGET = 4095;
/** Records of one object: a directory with more entries is divided. */
export const MAX_RECORDS = 512;
/** Records of an object of a divided directory, but for the last one of its level. */
export const MIN_RECORDS = 64;
/** Levels of objects of one directory, far above those of 2^32 entries. */
export const MAX_LEVEL = 7;
/** Of the longest path in totals: paths that can be used are shorter. */
export const MAX_LONGEST = 0xffff;
