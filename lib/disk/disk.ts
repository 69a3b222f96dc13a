/**
 * The calls on a file system of which the order decides what a crash leaves. Rooms that keep state on the disk take one, so that
 * tests can stop them at each call, let calls fail, and lose any of what was not synced. All calls are synchronous: their
 * callers run in threads of their own. They throw as the calls of node:fs do, with a `code`.
 */
export interface Disk {
  /** `create` refuses a name that exists (EEXIST); `write` reads, too. */
  open(path: string, how: OpenAs, mode?: number): number;
  close(fd: number): void;
  /** Bytes of an open file. */
  size(fd: number): number;
  /** Fills `into`, or less at the end of the file. Returns the bytes read. */
  pread(fd: number, into: Uint8Array, offset: number): number;
  /** Writes all. If it throws, any part of the bytes may have been written. */
  pwrite(fd: number, bytes: Uint8Array, offset: number): void;
  truncate(fd: number, size: number): void;
  chmod(fd: number, mode: number): void;
  /** Contents and size are durable on return; the name is so after `syncFolder`. After a failure nobody knows what is durable. */
  datasync(fd: number): void;
  /** Replaces what has the new name. */
  rename(from: string, to: string): void;
  link(from: string, to: string): void;
  unlink(path: string): void;
  mkdir(path: string, mode?: number): void;
  readdir(path: string): string[];
  /** Names that were made, replaced or removed in it are durable on return. */
  syncFolder(path: string): void;
}

export type OpenAs = 'read' | 'write' | 'create';
