/**
 * Opcodes with the names and numbers of include/uapi/linux/fuse.h (protocol 7.45). All integers of the protocol are in
 * host byte order; only little-endian hosts are supported.
 */
export const Opcode = {
  LOOKUP: 1,
  FORGET: 2,
  GETATTR: 3,
  SETATTR: 4,
  READLINK: 5,
  SYMLINK: 6,
  MKNOD: 8,
  MKDIR: 9,
  UNLINK: 10,
  RMDIR: 11,
  RENAME: 12,
  LINK: 13,
  OPEN: 14,
  READ: 15,
  WRITE: 16,
  STATFS: 17,
  RELEASE: 18,
  FSYNC: 20,
  SETXATTR: 21,
  GETXATTR: 22,
  LISTXATTR: 23,
  REMOVEXATTR: 24,
  FLUSH: 25,
  INIT: 26,
  OPENDIR: 27,
  READDIR: 28,
  RELEASEDIR: 29,
  FSYNCDIR: 30,
  ACCESS: 34,
  CREATE: 35,
  INTERRUPT: 36,
  BMAP: 37,
  DESTROY: 38,
  IOCTL: 39,
  POLL: 40,
  NOTIFY_REPLY: 41,
  BATCH_FORGET: 42,
  FALLOCATE: 43,
  READDIRPLUS: 44,
  RENAME2: 45,
  LSEEK: 46,
  COPY_FILE_RANGE: 47,
  TMPFILE: 51,
  STATX: 52,
  COPY_FILE_RANGE_64: 53,
} as const;

/** FUSE_ROOT_ID */
export const ROOT_NODEID = 1;

// Sizes of the structs of include/uapi/linux/fuse.h in bytes.
export const IN_HEADER_SIZE = 40;
export const OUT_HEADER_SIZE = 16;
export const ENTRY_OUT_SIZE = 128;
export const ATTR_OUT_SIZE = 104;
export const OPEN_OUT_SIZE = 16;
export const INIT_OUT_SIZE = 64;
export const STATFS_OUT_SIZE = 80;
export const WRITE_OUT_SIZE = 8;
export const DIRENT_SIZE = 24;
