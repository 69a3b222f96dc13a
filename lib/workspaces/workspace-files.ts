import type { ByteString } from '../byte-string.ts';
import type { HostFile } from '../host-tree/host-file.ts';
import type { Time } from '../linux/time.ts';

/**
 * Attributes at a path, as the requesting actor may see them. Paths are byte strings from the root of the workspace.
 */
export interface FileStatus {
  path: ByteString;
  /** Includes the file type bits (S_IFMT). */
  mode: number;
  /** In bytes; 0 for a directory; for a symlink the length of its target. */
  size: number;
  mtime: Time;
  /** Target of a symlink that may be read. */
  target?: ByteString;
  /** Level by the sandbox's rules (lib/permissions), for every actor. */
  level: number;
}

/** Result of `open`. */
export interface OpenedFile extends FileStatus {
  /** Differs whenever contents or mode differ. */
  version: string;
  /** The first bytes; all bytes if `handle` is 0. */
  data: Uint8Array;
  /** For `read` and `close`; 0: everything was read, and there is nothing to close. */
  handle: number;
  /** The host file that has all contents, if there is a handle. Who reads it must `check` what was read. */
  host?: HostFile;
  /** See `check`. */
  warnings?: number;
  /**
   * A program may have mapped the file for writing, and changed pages that the data lacks. They are written back by
   * `Workspaces.flush`: if `warnings` has not changed then, there were none.
   */
  mayBeMapped?: boolean;
}

/** An entry as an archive has it: files, directories, symlinks and others. */
export interface PackedEntry extends Omit<FileStatus, 'level'> {
  /** Of a small file: where its content of `size` bytes begins in the data. Absent: `open` the file. */
  at?: number;
}

/** Result of `pack`. */
export interface Packed {
  entries: PackedEntry[];
  data: Uint8Array;
  /** The path to continue after, if `more` is set. */
  last: ByteString;
  more: boolean;
}

/**
 * A member of an archive. The content of a file is in the data that comes with it, from `at`, if it has at most
 * `MAX_DATA` bytes; otherwise in a staged file. A `link` is another name of an earlier file.
 */
export type ArchiveMember = { path: ByteString } & (
  | { type: 'directory'; mode: number; mtime: Time }
  | { type: 'file'; mode: number; mtime: Time; size: number; at: number; handle?: number | undefined }
  | { type: 'symlink'; target: ByteString; mtime: Time }
  | { type: 'link'; target: ByteString }
);

/** What an archive has, by type; `size`: bytes of file contents. */
export interface UnpackedCounts {
  files: number;
  directories: number;
  symlinks: number;
  size: number;
}

/**
 * File operations on one workspace. They make the same checks as the kernel's requests. Symlinks are followed only
 * within the workspace. Errors are ServiceErrors that name the path. The caller closes handles; after the workspace was
 * detached they fail with ABORTED.
 */
export interface WorkspaceFiles {
  /** Returns the attributes at a path; does not follow a final symlink. */
  stat(path: ByteString): FileStatus;
  /**
   * What the agent sees of a file that the rules redact, and the values that it does not see. For the owner only.
   * undefined for other files.
   */
  redaction(path: ByteString, follow: boolean): Redaction | undefined;
  /** Returns at most `limit` entries after the path `after` ('': from the start), in byte order of their paths. */
  list(
    path: ByteString,
    recursive: boolean,
    after: ByteString,
    limit: number,
  ): { entries: FileStatus[]; more: boolean };
  /**
   * Returns at most `limit` entries below a directory, as `list`, with the contents of small files, each of one version.
   * Small files that may not be read are left out.
   */
  pack(path: ByteString, after: ByteString, limit: number): Packed;
  /**
   * Opens a regular file for reading. `flushed`: the pages of mappings were written back (`Workspaces.flush`). Otherwise
   * undefined for a large file that a program may have mapped for writing; for a small one see `mayBeMapped`.
   */
  open(path: ByteString, flushed: boolean): OpenedFile | undefined;
  /** Reads up to `length` bytes at byte `offset`. Throws ABORTED if the file no longer has that version. */
  read(handle: number, version: string, offset: number, length: number): Uint8Array;
  /**
   * Throws what `read` would throw. Otherwise everything that was read of the host file until now is of that version.
   * Returns the second element of `WorkspaceSpec.changeCount`: while it has this value, there is no need to check again.
   */
  check(handle: number, version: string): number;
  /** Closes handles; unknown ones are ignored. */
  close(handles: readonly number[]): void;
  /** Creates a directory. With `parents`, an existing directory is no error, and missing parents are created. */
  makeDirectory(path: ByteString, mode: number, parents: boolean): FileStatus;
  /** Renames; does not follow a final symlink. `replace`: replaces a file or empty directory at `to`. */
  move(from: ByteString, to: ByteString, replace: boolean): FileStatus;
  /**
   * Removes; does not follow a final symlink. A directory that is not empty is removed only with `recursive`, at most
   * `limit` entries at a time, after a check that all of it may be removed (skipped if `begun` is set). Returns the
   * number of removed entries.
   */
  remove(path: ByteString, recursive: boolean, begun: boolean, limit: number): { removed: number; more: boolean };
  /** Throws what `place` would throw, as far as it is known now. */
  mayPlace(path: ByteString): void;
  /**
   * Creates an unlinked file with these contents: invisible, counted by the quota, and deleted with its handle. Returns
   * the handle.
   */
  stage(data: Uint8Array): number;
  /** Appends to a staged file. */
  append(handle: number, data: Uint8Array): void;
  /** Sets permission bits and time of a staged file. Nothing may be appended afterwards. */
  seal(handle: number, mode: number, mtime: Time): void;
  /**
   * Gives a staged file its name, atomically replacing an existing file, and creates missing parents. Processes that
   * have the old file open keep it. `mode` 0: that of the old file, or 0644. Closes the handle.
   */
  place(handle: number, path: ByteString, mode: number): FileStatus;
  /** Begins to unpack an archive: throws what `unpack` would throw for the path itself. Returns a handle. */
  beginUnpack(path: ByteString): number;
  /**
   * Adds members, in the order of the archive: invisible, counted by the quota, and deleted if the workspace is detached.
   * ABORTED after a checkpoint.
   */
  addMembers(handle: number, members: readonly ArchiveMember[], data: Uint8Array): void;
  /** Atomically creates the members below `path`. Closes the handles of files. Call `dropUnpack` after a failure. */
  unpack(handle: number, path: ByteString): UnpackedCounts;
  /** Ends unpacking, without a result; unknown handles are ignored. */
  dropUnpack(handle: number): void;
}

/** Result of `redaction`. */
export interface Redaction {
  /** What the agent reads. */
  content: string;
  /** See `RedactedForm`. */
  isHidden: boolean;
  /** In the order of the file. The values never leave the server, except to the hosts that a secret is bound to. */
  replaced: readonly { key: string; value: string; placeholder: string }[];
}

/** Name of a file operation. */
export type FileOperation = keyof WorkspaceFiles;
