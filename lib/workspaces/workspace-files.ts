import type { ByteString } from '../byte-string.ts';
import type { Time } from '../linux/time.ts';

/** What is at a path, as the one who asks may see it. Paths are bytes, from the root of the workspace. */
export interface FileStatus {
  path: ByteString;
  /** With the type bits. */
  mode: number;
  /** 0 of a directory; a symlink's is the length of its target. */
  size: number;
  mtime: Time;
  /** Symlink that may be read. */
  target?: ByteString;
  /** What the sandbox's rules say of it, whoever asks: 0 (none) to 3 (write). */
  level: number;
}

export interface OpenedFile extends FileStatus {
  /** Another one when contents or mode are others. */
  version: string;
  /** The first bytes; all of them where `handle` is 0. */
  data: Uint8Array;
  /** For `read` and `close`; 0: there is nothing more to read, and nothing to close. */
  handle: number;
}

/** A file that was staged, a directory, or a symlink, to be put below a directory. */
export type Unpacked = { path: ByteString } & (
  | { type: 'directory'; mode: number }
  | { type: 'file'; handle: number }
  | { type: 'symlink'; target: ByteString }
);

/**
 * Files of one workspace, by the same functions and decisions as the kernel's requests. A symlink is followed within the
 * workspace only. Refusals are ServiceErrors that name the path. A handle is the caller's to close; it fails with
 * ABORTED once the workspace was detached.
 */
export interface WorkspaceFiles {
  /** Of a symlink itself. */
  stat(path: ByteString): FileStatus;
  /** At most `limit` entries after the path `after` ('': from the start), in byte order of their paths. */
  list(
    path: ByteString,
    recursive: boolean,
    after: ByteString,
    limit: number,
  ): { entries: FileStatus[]; more: boolean };
  open(path: ByteString): OpenedFile;
  /** ABORTED when the file is no longer of that version. */
  read(handle: number, version: string, offset: number, length: number): Uint8Array;
  close(handles: readonly number[]): void;
  /** With `parents` one that is there is fine, and missing ones on the way are made. */
  makeDirectory(path: ByteString, mode: number, parents: boolean): FileStatus;
  /** Of a symlink itself. `replace`: in place of the file, or empty directory, at `to`. */
  move(from: ByteString, to: ByteString, replace: boolean): FileStatus;
  /**
   * Of a symlink itself. A directory with something in it only when `recursive`, at most `limit` names at a time, after
   * all of it was found to be removable (`begun`: it was). Returns how many were removed.
   */
  remove(path: ByteString, recursive: boolean, begun: boolean, limit: number): { removed: number; more: boolean };
  /** Throws what `place` would, as far as it can be known before. */
  mayPlace(path: ByteString): void;
  /** A new file that has no name: nobody sees it, the quota counts it, and it is gone with its handle. */
  stage(data: Uint8Array): number;
  append(handle: number, data: Uint8Array): void;
  /** Its permission bits and time as they are to be; no more is appended. */
  seal(handle: number, mode: number, mtime: Time): void;
  /**
   * Gives the file its name, in place of the file that has it, as one; missing directories on the way are made. Whoever
   * has the old file open keeps it. `mode` 0: the old file's, or 0644. The handle is closed.
   */
  place(handle: number, path: ByteString, mode: number): FileStatus;
  /** Throws what `unpack` would for the place itself. */
  mayUnpack(path: ByteString): void;
  /** Gives many their names below `path`, parents first, as one. Files' handles are closed. */
  unpack(path: ByteString, members: readonly Unpacked[]): void;
}

export type FileOperation = keyof WorkspaceFiles;
