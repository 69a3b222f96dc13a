// Generated from proto/service/v1 and handlers/index.ts by `npm run generate`; do not edit.

import type { Duration } from '../duration.ts';

/* Fields have the names of the contract in camelCase, enums are its words in lower case, times are Dates. */

/** Kind of a change. */
export type ChangeKind =
  /** The path exists in the sandbox only. */
  | 'added'
  /** The path exists in both, with a difference. */
  | 'modified'
  /** The path exists in the codebase only. */
  | 'deleted';

/** Output stream of a command. */
export type OutputStream =
  /** Standard output. */
  | 'stdout'
  /** Standard error. */
  | 'stderr';

/** State of a session. */
export type SessionStatus =
  /** The session accepts commands. */
  | 'active'
  /** The session has ended; status_reason gives the reason. */
  | 'closed';

/** Type of a file. */
export type FileType =
  /** Regular file. */
  | 'file'
  /** Directory. */
  | 'directory'
  /** Symbolic link. */
  | 'symlink'
  /** FIFO, socket or device. */
  | 'other';

/** Access that a rule grants to commands at the paths that it matches. */
export type Permission =
  /** The path does not exist for the command. */
  | 'none'
  /** The path is listed and can be stat'ed; its contents cannot be opened. */
  | 'view'
  /** The contents can be read; nothing can be changed. */
  | 'read'
  /** Every operation is allowed. */
  | 'write';

/** Syntax and meaning of a rule's pattern. */
export type PatternType =
  /** A glob: "*", "?", "[...]" and "{a,b}" match within one path component, "**" any number of components. */
  | 'glob'
  /** The directory and everything below it. */
  | 'directory'
  /** One exact path. */
  | 'file';

/** State of a sandbox. */
export type SandboxStatus =
  /** The sandbox is being created. */
  | 'pending'
  /** The sandbox accepts commands. */
  | 'running'
  /** The sandbox has its files but no processes. */
  | 'stopped'
  /** The sandbox could not be started, or ended unexpectedly; status_reason gives the reason. */
  | 'error';

/** Mechanism that isolates a sandbox. */
export type Runtime =
  /** Namespaces created by bubblewrap. */
  | 'bwrap'
  /** A Docker container. */
  | 'docker'
  /** No isolation: for tests. */
  | 'mock';

/** Request of ListChanges. */
export interface ListChangesRequest {
  /** Sandbox whose changes are listed. */
  sandboxId: string;
  /**
   * "owner" or empty: everything; "agent": only what the rules show to the sandbox's commands. A key of role agent sees
   * what "agent" shows.
   */
  as?: string | undefined;
  /** Only changes at these paths, each with everything below it; none: all changes. An empty path is refused. */
  paths?: readonly string[] | undefined;
  /** Globs, as in rules: changes at the paths that one matches, and everything below them, are left out. */
  exclude?: readonly string[] | undefined;
  /** List what was written at scratch paths, too. */
  includeScratch?: boolean | undefined;
  /** Compare modified files by lines: `diff` of their changes. A page ends early once it has 1 MiB of hunks. */
  diff?: boolean | undefined;
  /**
   * For a client that brings changes to a local directory: `local` of the changes. A page ends early once files of 256 MiB
   * were read. Not for a key of role agent, nor with "agent".
   */
  local?: boolean | undefined;
}

/** A path at which a sandbox differs from its codebase. */
export interface FileChange {
  /** Path from the codebase root. */
  path: string;
  /** Kind of the change. */
  kind: ChangeKind;
  /** Type of the sandbox's file; of a deletion: of the codebase's file. */
  type: FileType;
  /** Size of the sandbox's file in bytes; 0 for a deletion and for a directory. */
  size: number;
  /** Size of the codebase's file in bytes; 0 if it has none, and for a directory. */
  baseSize: number;
  /** Permission bits in the sandbox; 0 for a deletion. */
  mode: number;
  /** Permission bits in the codebase; 0 for an addition. */
  baseMode: number;
  /** Type of the codebase's file, if it differs from `type`. */
  baseType: FileType;
  /** False if only the permission bits differ. */
  contentChanged: boolean;
  /**
   * Codebase path of an added file that is a renamed one, or of a modified one whose name a renamed one took, if known; empty
   * otherwise.
   */
  renamedFrom: string;
  /** True if the codebase's version is no longer the one that the sandbox started from: Commit needs on_conflict. */
  conflict: boolean;
  /** True if the rules make this path scratch; only with include_scratch. */
  scratch: boolean;
  /**
   * Comparison by lines of a modified file, or of a renamed one with what the codebase has at `renamed_from`; only with `diff`
   * of the request, and not of files that came along.
   */
  diff?: FileDiff | undefined;
  /** True if the file or symlink was renamed with a directory above it, and is otherwise as the codebase has it at `renamed_from`. */
  cameAlong: boolean;
  /**
   * True if the codebase's file has values that the rules show as placeholders, and they would be lost: it was removed or renamed,
   * is no file any more, lacks some of them, or has placeholders in their place. False with `as` "agent". Clients bring it to a local directory only if
   * it is allowed by name.
   */
  losesValues: boolean;
  /** What decides whether the change comes to a local directory; only with `local` of the request. */
  local?: LocalChange | undefined;
}

/**
 * What decides whether a change comes to a local directory: it does if there is no refusal, and if that directory has what
 * the codebase has.
 */
export interface LocalChange {
  /** SHA-256 of the codebase's file in lower-case hex. Empty if it is no file, or if `conflict` is true. */
  baseSha256: string;
  /** Target of the codebase's symlink. Empty if `conflict` is true. */
  baseLinkTarget: string;
  /**
   * SHA-256 in lower-case hex of what an export has of the sandbox's file. Empty if it is no file, was written to while it
   * was read, or has more than 1 GiB of holes: then it must not come.
   */
  sha256: string;
  /** Target of the sandbox's symlink. */
  linkTarget: string;
  /** Why the change must not be brought to a local directory. Absent: it may. */
  refusal?: LocalRefusal | undefined;
}

/**
 * Why a change must not be brought to a local directory: a program there could run it, or be led elsewhere by it. With
 * neither `allow` nor `git` it is never brought.
 */
export interface LocalRefusal {
  /** One sentence. */
  reason: string;
  /** Path that the user must allow by name for it: a tool runs what is there on sight. Empty: none. */
  allow: string;
  /** True if the user must ask for changes in .git. */
  git: boolean;
}

/** Comparison of the two versions of a modified or renamed file by lines. */
export interface FileDiff {
  /** SHA-256 of the codebase's contents in lower-case hex; empty without hunks. */
  baseSha256: string;
  /** SHA-256 of the sandbox's contents in lower-case hex; empty without hunks. */
  sha256: string;
  /** Differences, in order. */
  hunks: readonly Hunk[];
  /**
   * Reason why there are no hunks. "binary": not UTF-8 text; "large": a side has more than 512 KiB; "placeholders": the rules
   * show placeholders in the file; "unreadable": the rules only list it. Empty otherwise.
   */
  noHunks: string;
  /** Permission bits of the codebase's file; 0 without hunks. A commit of some hunks keeps them. */
  baseMode: number;
}

/** Adjacent lines of a text file that differ. Texts are whole lines with their ends. */
export interface Hunk {
  /** First line of the codebase's file that differs, from 1. With old_lines 0 the new lines are inserted before it. */
  oldStart: number;
  /** Number of lines that are replaced or removed. */
  oldLines: number;
  /** First line of the sandbox's file that differs, from 1. */
  newStart: number;
  /** Number of lines that replace them. */
  newLines: number;
  /** Up to three equal lines before. */
  before: string;
  /** Lines of the codebase's file. */
  removed: string;
  /** Lines of the sandbox's file. */
  added: string;
  /** Up to three equal lines after. */
  after: string;
}

/** Response of ListChanges. */
export interface ListChangesResponse {
  /** Changes of this page. */
  changes: readonly FileChange[];
  /** page_token of the next page; empty: this was the last page. */
  nextPageToken: string;
}

/** Request of ExportChanges. */
export interface ExportChangesRequest {
  /** Sandbox whose changes are exported. */
  sandboxId: string;
  /** "patch": a unified diff for git apply; "tar": an archive of the added and modified files. */
  format: string;
  /**
   * "owner" or empty: everything; "agent": only what the rules show to the sandbox's commands. A key of role agent sees
   * what "agent" shows.
   */
  as?: string | undefined;
  /** Only changes at these paths, each with everything below it; none: all changes. An empty path is refused. */
  paths?: readonly string[] | undefined;
  /** Globs, as in rules: changes at the paths that one matches, and everything below them, are left out. */
  exclude?: readonly string[] | undefined;
  /** Export what was written at scratch paths, too. */
  includeScratch?: boolean | undefined;
}

/** Response of ExportChanges. */
export interface ExportChangesResponse {
  /** Next bytes of the patch or archive. */
  data: Uint8Array;
}

/** Request of Discard. */
export interface DiscardRequest {
  /** Sandbox whose changes are dropped. */
  sandboxId: string;
  /** Paths, each with everything below it; none, or "/": all changes. An empty path is refused. */
  paths?: readonly string[] | undefined;
  /** Globs, as in rules: changes at the paths that one matches, and everything below them, are left out. */
  exclude?: readonly string[] | undefined;
  /** Drop what was written at scratch paths, too. */
  includeScratch?: boolean | undefined;
}

/** Response of Discard. */
export interface DiscardResponse {
  /** Number of paths whose changes were dropped. */
  discarded: number;
}

/** Request of Commit. */
export interface CommitRequest {
  /** Sandbox whose changes are committed. */
  sandboxId: string;
  /** Paths, each with everything below it; none, or "/": all changes. An empty path is refused. */
  paths?: readonly string[] | undefined;
  /**
   * Resolution of conflicts, which are paths whose version in the codebase is no longer the one that the sandbox started
   * from. "ours": take the sandbox's version; "theirs": keep the codebase's; empty: commit nothing.
   */
  onConflict?: string | undefined;
  /** Only report what would be committed. */
  dryRun?: boolean | undefined;
  /** Globs, as in rules: changes at the paths that one matches, and everything below them, are left out. */
  exclude?: readonly string[] | undefined;
  /** Commit what was written at scratch paths, too. */
  includeScratch?: boolean | undefined;
  /**
   * Modified or renamed text files of which only some hunks are committed; the others stay changes. These paths are chosen, too, a
   * renamed file with the removal at its old path: without `paths` nothing else is.
   */
  hunks?: readonly Partial<ChosenHunks>[] | undefined;
}

/** Hunks of one modified or renamed text file, as ListChanges showed them. */
export interface ChosenHunks {
  /** Path from the codebase root. */
  path: string;
  /** base_sha256 of the diff. The commit is refused if the codebase has other contents by now. */
  baseSha256: string;
  /** sha256 of the diff. The commit is refused if the sandbox has other contents by now. */
  sha256: string;
  /** Indexes in the list of hunks, from 0, ascending. */
  indexes: readonly number[];
}

/** Response of Commit. */
export interface CommitResponse {
  /** False after dry_run. */
  committed: boolean;
  /** Number of committed changes; with dry_run, of changes that would be committed. */
  count: number;
  /** The first 1000 of these changes; fewer if their paths have more than 1 MiB. */
  changes: readonly FileChange[];
  /** The first 1000 paths in conflict; fewer if they have more than 1 MiB. */
  conflicts: readonly string[];
}

/** A saved state of a sandbox. */
export interface Checkpoint {
  /** Sandbox of the checkpoint. */
  sandboxId: string;
  /** Name, unique in the sandbox. */
  name: string;
  /** Time of creation. */
  createdAt: Date;
  /** Number of files, directories and symlinks in the sandbox's delta at that time. */
  files: number;
  /** Bytes of the files in the sandbox's delta at that time. */
  bytes: number;
}

/** Request of CreateCheckpoint. */
export interface CreateCheckpointRequest {
  /** Sandbox whose state is saved. */
  sandboxId: string;
  /** Name of the checkpoint: 1 to 128 letters, digits, ".", "_" and "-". */
  name: string;
}

/** Request of ListCheckpoints. */
export interface ListCheckpointsRequest {
  /** Sandbox whose checkpoints are listed. */
  sandboxId: string;
}

/** Response of ListCheckpoints. */
export interface ListCheckpointsResponse {
  /** Checkpoints, oldest first. */
  checkpoints: readonly Checkpoint[];
}

/** Request of DeleteCheckpoint. */
export interface DeleteCheckpointRequest {
  /** Sandbox of the checkpoint. */
  sandboxId: string;
  /** Name of the checkpoint. */
  name: string;
}

/** Request of Rollback. */
export interface RollbackRequest {
  /** Sandbox to return to a checkpoint. */
  sandboxId: string;
  /** Name of the checkpoint. */
  checkpoint: string;
}

/** A stored set of files. */
export interface Codebase {
  /** Identifier: "cb_", then letters and digits. */
  id: string;
  /** Name given at creation; names need not be unique. */
  name: string;
  /** User who owns the codebase; may be empty. */
  ownerId: string;
  /** Time of creation. */
  createdAt: Date;
  /** Number of files. Of those added to the server's storage by hand, and after a crash, as counted last. */
  fileCount: number;
  /** Size of all files in bytes. As counted last, like file_count. */
  totalSize: number;
  /** Reason why the files cannot be counted, or are not counted yet (file_count and total_size are then 0); empty otherwise. */
  statusReason: string;
  /**
   * Whether file_count and total_size may not be those of the present files: after a crash or a failed change, until the
   * files are counted again in the background. status_reason is empty then, unless they were never counted.
   */
  totalsOutdated: boolean;
  /**
   * Another one after each change through the service: while it stays the same, so do the files. After a crash it is
   * another one, too. Empty: not known.
   */
  revision: string;
}

/** Request of CreateCodebase. */
export interface CreateCodebaseRequest {
  /** Name of the codebase. */
  name: string;
  /**
   * User who owns the codebase; empty counts as one user. With keys, empty is the key's own owner, and only admins may
   * name another.
   */
  ownerId?: string | undefined;
}

/** Request of GetCodebase. */
export interface GetCodebaseRequest {
  /** Codebase to return. */
  codebaseId: string;
}

/** Request of ListCodebases. */
export interface ListCodebasesRequest {
  /** Only codebases of this owner; empty: of every owner whose codebases the caller may use. */
  ownerId?: string | undefined;
}

/** Response of ListCodebases. */
export interface ListCodebasesResponse {
  /** Codebases of this page. */
  codebases: readonly Codebase[];
  /** page_token of the next page; empty: this was the last page. */
  nextPageToken: string;
}

/** Request of DeleteCodebase. */
export interface DeleteCodebaseRequest {
  /** Codebase to delete. */
  codebaseId: string;
}

/** Request of UploadFile. Later messages of the stream leave every field but chunk empty, or repeat its value. */
export interface UploadFileRequest {
  /** Codebase that gets the file. */
  codebaseId: string;
  /** Path of the file; missing parent directories are created. */
  filePath: string;
  /** Permission bits; 0: 0644. Read from the first message. */
  mode?: number | undefined;
  /**
   * Target of a symlink that is stored instead of a file; then there are no contents and no mode. Read from the first
   * message. Empty: a file.
   */
  symlinkTarget?: string | undefined;
}

/** Response of UploadFile. */
export interface UploadFileResponse {
  /** Size of the contents in bytes. */
  size: number;
  /** SHA-256 of the contents in lower-case hexadecimal. */
  checksum: string;
}

/** Request of DownloadFile. */
export interface DownloadFileRequest {
  /** Codebase of the file. */
  codebaseId: string;
  /** Path of the file. */
  filePath: string;
}

/** Response of DownloadFile. */
export interface DownloadFileResponse {
  /** Next bytes of the contents. */
  data: Uint8Array;
}

/** Request of ListFiles. */
export interface ListFilesRequest {
  /** Codebase of the files. */
  codebaseId: string;
  /** Directory to list; empty: the root. */
  path?: string | undefined;
  /** List everything below the directory instead of its own entries only. */
  recursive?: boolean | undefined;
}

/** Response of ListFiles. */
export interface ListFilesResponse {
  /** Files and directories of this page. */
  files: readonly FileInfo[];
  /** page_token of the next page; empty: this was the last page. */
  nextPageToken: string;
}

/** Request of RemoveFile. */
export interface RemoveFileRequest {
  /** Codebase of the file. */
  codebaseId: string;
  /** Path of the file. */
  filePath: string;
}

/** A file or directory of a codebase. */
export interface FileInfo {
  /** Path from the codebase root. */
  path: string;
  /** Size in bytes; 0 for a directory. */
  size: number;
  /** Time of the last change of the contents. */
  modifiedAt: Date;
  /** True for a directory. */
  isDir: boolean;
  /** Permission bits. */
  mode: number;
  /** Target of a symlink, whose bytes that are not UTF-8 are U+FFFD; empty for all else. */
  symlinkTarget: string;
}

/** Request of ImportCodebaseFiles. Later messages of the stream leave every field but chunk empty, or repeat its value. */
export interface ImportCodebaseFilesRequest {
  /** Codebase that gets the files. */
  codebaseId: string;
  /**
   * "replace": the codebase has exactly the archive afterwards; "merge" or empty: files that the archive does not name
   * are kept; "update": as "merge", but a member of another type replaces a file or a directory, and an empty file
   * ".wh.NAME" removes NAME, as in layers of OCI images.
   */
  mode?: string | undefined;
  /** "tar" or empty. */
  format?: string | undefined;
  /** Only if the codebase has this revision: otherwise ABORTED, and nothing is changed. Empty: in any case. */
  ifRevision?: string | undefined;
}

/** Response of ImportCodebaseFiles. */
export interface ImportCodebaseFilesResponse {
  /** Number of files in the archive, hard links included. */
  files: number;
  /** Number of directories in the archive, or above its files. */
  directories: number;
  /** Number of symlinks in the archive. */
  symlinks: number;
  /** Bytes of file contents. */
  size: number;
  /** Revision of the codebase with these files. */
  revision: string;
}

/** Request of ExportCodebaseFiles. */
export interface ExportCodebaseFilesRequest {
  /** Codebase of the files. */
  codebaseId: string;
  /** Directory to export; names in the archive start there. Empty: the root. */
  path?: string | undefined;
  /** "tar" or empty. */
  format?: string | undefined;
}

/** Response of ExportCodebaseFiles. */
export interface ExportCodebaseFilesResponse {
  /** Next bytes of the archive. */
  data: Uint8Array;
}

/** Request of Exec and ExecStream. */
export interface ExecRequest {
  /** Sandbox that runs the command. */
  sandboxId: string;
  /** Command, run by `shell` -c. */
  command?: string | undefined;
  /** Standard input. */
  stdin?: string | undefined;
  /** Environment variables, in addition to the sandbox's own, over which they take precedence. */
  env?: Record<string, string> | undefined;
  /** Working directory; a relative path starts at /workspace. Empty: the sandbox's `workdir`, or /workspace. */
  workdir?: string | undefined;
  /** Time until the command and every process that it started are killed; 0: the server's default. */
  timeout?: Duration | undefined;
  /** Instead of `command`: a program and its arguments, without a shell; a program without "/" is found by PATH. */
  argv?: readonly string[] | undefined;
  /** Instead of `stdin`: standard input of any bytes. */
  stdinBytes?: Uint8Array | undefined;
  /**
   * Exec only. Time after which the answer does not wait any longer for the end of the command: it is `running`,
   * with a `process_id`, and goes on as a process (see ProcessService), with the timeout of this request. With
   * `yield_after`, a timeout is a result with the `end_reason` "timeout". 0: wait for the end.
   */
  yieldAfter?: Duration | undefined;
  /** ExecStream only. Send a chunk with `keepalive` every 15 seconds in which nothing else was sent. */
  keepalive?: boolean | undefined;
  /**
   * Shell that runs `command`: "sh", "bash", or another name in the sandbox's PATH, or an absolute path. It must take -c as
   * a POSIX shell does. FAILED_PRECONDITION if the sandbox has none. Empty: the sandbox's `shell`, or /bin/sh.
   */
  shell?: string | undefined;
  /**
   * Exec only. Bytes of output to keep, of both streams together, at most the server's limit: the beginning and the end
   * of each stream that is longer than its part, with a line between them that tells how many bytes were left out. A
   * stream that needs less than half of it leaves the rest to the other one. 0: the beginning, up to the server's limit
   * for each stream.
   */
  maxOutput?: number | undefined;
  /**
   * Standard output and error are one stream, in the order in which they were written: `output` of ExecResponse, with
   * ExecStream STDOUT.
   */
  merge?: boolean | undefined;
}

/** Response of Exec. */
export interface ExecResponse {
  /**
   * Standard output. Bytes that are not UTF-8 are replaced by U+FFFD. Output above the server's limit is cut, and a last
   * line reports that; with `max_output`, a line between the beginning and the end.
   */
  stdout: string;
  /** Standard error, with the same restrictions. */
  stderr: string;
  /** Exit code; 128+N if signal N ended the command. */
  exitCode: number;
  /** Run time in milliseconds. */
  durationMs: number;
  /**
   * Why the command ended: "exited", "signaled" (exit code 128+N, also a shell's), "out_of_memory", or "timeout" with
   * `yield_after`; empty while it is `running`.
   */
  endReason: string;
  /** Whether output was left out of `stdout`, `stderr` or `output`. */
  outputTruncated: boolean;
  /** Bytes of standard output that were left out. */
  stdoutDroppedBytes: number;
  /** Bytes of standard error that were left out. */
  stderrDroppedBytes: number;
  /** Whether the command goes on as the process `process_id`. Its output from the beginning is in the process's log. */
  running: boolean;
  /** Id of the process, if the command goes on. */
  processId: string;
  /**
   * With `merge`: standard output and error in the order in which they were written, instead of `stdout` and `stderr`,
   * which are empty.
   */
  output: string;
  /** Bytes that were left out of `output`. */
  outputDroppedBytes: number;
  /**
   * Connections of the sandbox that were refused while the command ran, by this command or another one: at most 50 names
   * or addresses with their ports, each once.
   */
  deniedHosts: readonly DeniedHost[];
  /** SessionExec only. The shell of the session has ended with this command. */
  sessionEnded: boolean;
  /** SessionExec only. The command was the first in a new shell, without the state of the one that was killed. */
  sessionReset: boolean;
}

/** Response of ExecStream. */
export interface ExecStreamChunk {
  /** Next bytes of the output; empty in the last chunk. */
  data: Uint8Array;
  /** Stream that the bytes were written to. */
  stream: OutputStream;
  /** Exit code, in the last chunk only; 128+N if signal N ended the command. */
  exitCode?: number | undefined;
  /** Run time in milliseconds, in the last chunk. */
  durationMs: number;
  /** Why the command ended, in the last chunk: "exited", "signaled" (exit code 128+N, also a shell's) or "out_of_memory". */
  endReason?: string | undefined;
  /** This chunk only shows that the command still runs. */
  keepalive?: boolean | undefined;
  /** In the last chunk, if connections were refused: see `denied_hosts` of ExecResponse. */
  denied?: DeniedHosts | undefined;
  /** SessionExecStream only, in the last chunk: see ExecResponse. */
  sessionEnded?: boolean | undefined;
  /** SessionExecStream only, in the last chunk: see ExecResponse. */
  sessionReset?: boolean | undefined;
}

/** A shell in a sandbox that keeps its state between commands. */
export interface Session {
  /** Identifier: "se_", then letters and digits. */
  id: string;
  /** Sandbox of the session. */
  sandboxId: string;
  /** State of the session. */
  status: SessionStatus;
  /** Path of the shell in the sandbox. */
  shell: string;
  /** Time of creation. */
  createdAt: Date;
  /** Time of its end; absent: it has not ended. */
  closedAt?: Date | undefined;
  /** Reason of "closed"; empty otherwise. */
  statusReason: string;
}

/** Request of CreateSession. */
export interface CreateSessionRequest {
  /** Sandbox of the session. */
  sandboxId: string;
  /**
   * Name of a shell in the sandbox's PATH, or its absolute path. It must run commands as a POSIX shell does. Empty: the
   * sandbox's `shell`, or bash, or sh if there is none.
   */
  shell?: string | undefined;
  /** Environment variables of the shell, in addition to the sandbox's own, over which they take precedence. */
  env?: Record<string, string> | undefined;
}

/** Request of GetSession. */
export interface GetSessionRequest {
  /** Session to return. */
  sessionId: string;
}

/** Request of ListSessions. */
export interface ListSessionsRequest {
  /** Sandbox whose sessions are listed. */
  sandboxId: string;
}

/** Response of ListSessions. */
export interface ListSessionsResponse {
  /** Sessions of this page. */
  sessions: readonly Session[];
  /** page_token of the next page; empty: this was the last page. */
  nextPageToken: string;
}

/** Request of DestroySession. */
export interface DestroySessionRequest {
  /** Session to destroy. */
  sessionId: string;
}

/** Request of SessionExec and SessionExecStream. */
export interface SessionExecRequest {
  /** Session whose shell runs the command. */
  sessionId: string;
  /** Command, at most 1 MiB. Its standard input is /dev/null, and redirections by `exec` last until its end. */
  command: string;
  /** Time from its start until the command and everything in its session are killed; 0: the server's default. */
  timeout?: Duration | undefined;
  /** SessionExec only. See ExecRequest. */
  maxOutput?: number | undefined;
  /** See ExecRequest. */
  merge?: boolean | undefined;
  /** SessionExecStream only. Send a chunk with `keepalive` every 15 seconds in which nothing else was sent. */
  keepalive?: boolean | undefined;
}

/** A file, directory or symlink of a workspace. */
export interface FileStat {
  /** Path from the root of the workspace. */
  path: string;
  /** Type of the file. */
  type: FileType;
  /** Size in bytes; 0 for a directory; the length of its target for a symlink. */
  size: number;
  /** Permission bits as they apply to the caller. */
  mode: number;
  /** Time of the last change of the contents. */
  modifiedAt: Date;
  /** Target of a symlink that the caller may read; empty otherwise. */
  target: string;
  /** Permission by the sandbox's rules, the same for agent and owner. */
  permission: Permission;
}

/** Request of StatFile. */
export interface StatFileRequest {
  /** Sandbox of the workspace. */
  sandboxId: string;
  /** "agent" or empty: as the sandbox's commands; "owner": without rules. */
  as?: string | undefined;
  /** Path from the root of the workspace; empty: the root itself. */
  path?: string | undefined;
}

/** Request of PreviewFile. */
export interface PreviewFileRequest {
  /** Sandbox of the workspace. */
  sandboxId: string;
  /** Path from the root of the workspace. */
  path?: string | undefined;
}

/** A value of a file that is shown as a placeholder. */
export interface RedactedValue {
  /** Names from the root of the file, joined by dots; the label of a block of PEM. */
  key: string;
  /** What commands read in its place. */
  placeholder: string;
}

/** Answer of PreviewFile. */
export interface PreviewFileResponse {
  /** Path from the root of the workspace. */
  path: string;
  /** Whether a rule with `view` "redacted" decides at this path. If not, all other fields are empty: see ReadFile. */
  redacted: boolean;
  /** What commands read: the first 256 KiB. */
  content: string;
  /** The file is hidden as a whole: it is too large, or not of its redactor's format. */
  hidden: boolean;
  /** Values with placeholders in the order of the file: the first 1000. */
  values: readonly RedactedValue[];
  /** Number of all values with placeholders. */
  valueCount: number;
}

/** Request of ListDirectory. */
export interface ListDirectoryRequest {
  /** Sandbox of the workspace. */
  sandboxId: string;
  /** "agent" or empty: as the sandbox's commands; "owner": without rules. */
  as?: string | undefined;
  /** Directory to list; empty: the root. */
  path?: string | undefined;
  /** List everything below the directory instead of its own entries only. */
  recursive?: boolean | undefined;
}

/** Response of ListDirectory. */
export interface ListDirectoryResponse {
  /** Files, directories and symlinks of this page. */
  files: readonly FileStat[];
  /** page_token of the next page; empty: this was the last page. */
  nextPageToken: string;
}

/** Request of ReadFile. */
export interface ReadFileRequest {
  /** Sandbox of the workspace. */
  sandboxId: string;
  /** "agent" or empty: as the sandbox's commands; "owner": without rules. */
  as?: string | undefined;
  /** Path of the file. */
  path: string;
}

/** Response of ReadFile. */
export interface ReadFileResponse {
  /** Next bytes of the contents. */
  data: Uint8Array;
}

/** Request of WriteFile. Later messages of the stream leave every field but chunk empty, or repeat its value. */
export interface WriteFileRequest {
  /** Sandbox of the workspace. */
  sandboxId: string;
  /** "agent" or empty: as the sandbox's commands; "owner": without rules. */
  as?: string | undefined;
  /** Path of the file. */
  path: string;
  /** Permission bits; 0: those of the file that is replaced, or 0644. */
  mode?: number | undefined;
}

/** Request of MakeDirectory. */
export interface MakeDirectoryRequest {
  /** Sandbox of the workspace. */
  sandboxId: string;
  /** "agent" or empty: as the sandbox's commands; "owner": without rules. */
  as?: string | undefined;
  /** Path of the directory. */
  path?: string | undefined;
  /** Permission bits; 0: 0755. */
  mode?: number | undefined;
  /** Create missing parent directories too, and succeed if the directory exists. */
  parents?: boolean | undefined;
}

/** Request of MoveFile. */
export interface MoveFileRequest {
  /** Sandbox of the workspace. */
  sandboxId: string;
  /** "agent" or empty: as the sandbox's commands; "owner": without rules. */
  as?: string | undefined;
  /** Present path. */
  from?: string | undefined;
  /** New path. */
  to?: string | undefined;
  /** Replace a file, or an empty directory, at the new path. */
  replace?: boolean | undefined;
}

/** Request of DeleteFile. */
export interface DeleteFileRequest {
  /** Sandbox of the workspace. */
  sandboxId: string;
  /** "agent" or empty: as the sandbox's commands; "owner": without rules. */
  as?: string | undefined;
  /** Path to remove. */
  path: string;
  /** Remove a directory with everything in it; nothing is removed if one entry may not be removed. */
  recursive?: boolean | undefined;
}

/** Response of DeleteFile. */
export interface DeleteFileResponse {
  /** Number of files, directories and symlinks removed. */
  removed: number;
}

/** Request of ExportFiles. */
export interface ExportFilesRequest {
  /** Sandbox of the workspace. */
  sandboxId: string;
  /** "agent" or empty: as the sandbox's commands; "owner": without rules. */
  as?: string | undefined;
  /** Directory to export; names in the archive start there. Empty: the root. */
  path?: string | undefined;
  /** "tar" or empty. */
  format?: string | undefined;
}

/** Response of ExportFiles. */
export interface ExportFilesResponse {
  /** Next bytes of the archive. */
  data: Uint8Array;
}

/** Request of ImportFiles. Later messages of the stream leave every field but chunk empty, or repeat its value. */
export interface ImportFilesRequest {
  /** Sandbox of the workspace. */
  sandboxId: string;
  /** "agent" or empty: as the sandbox's commands; "owner": without rules. */
  as?: string | undefined;
  /** Directory to unpack into, created if it is missing; empty: the root. */
  path?: string | undefined;
  /** "tar" or empty. */
  format?: string | undefined;
}

/** Response of ImportFiles. */
export interface ImportFilesResponse {
  /** Number of files unpacked. */
  files: number;
  /** Number of directories created. */
  directories: number;
  /** Number of symlinks created. */
  symlinks: number;
  /** Bytes of file contents. */
  size: number;
}

/** A stored file system. */
export interface Image {
  /** Identifier: "sha256:", then the digest of the image's configuration or, for a tar of a file system, of the tar. */
  id: string;
  /** Names, each of one image only; an image whose names were given to others has none. */
  names: readonly string[];
  /** Format of the archive: "tar", "oci" or "docker". */
  format: string;
  /** Time of the import. */
  createdAt: Date;
  /** Number of files, directories and links. */
  fileCount: number;
  /** Size of all files in bytes, which it takes on the disk once. */
  totalSize: number;
  /** Environment that the image gives to commands. */
  env: Record<string, string>;
}

/** Request of ImportImage. Later messages of the stream leave every field but chunk empty, or repeat its value. */
export interface ImportImageRequest {
  /** Name of the image, for example "python:3.12". */
  name: string;
}

/** Request of GetImage. */
export interface GetImageRequest {
  /** Name or id of the image. */
  image: string;
}

/** Request of ListImages. */
export type ListImagesRequest = Record<string, never>;

/** Response of ListImages. */
export interface ListImagesResponse {
  /** Images of this page. */
  images: readonly Image[];
  /** page_token of the next page; empty: this was the last page. */
  nextPageToken: string;
}

/** Request of DeleteImage. */
export interface DeleteImageRequest {
  /** Name or id of the image. */
  image: string;
}

/** A key without its secret. */
export interface Key {
  /** Identifier: 8 letters and digits, which are part of the key. */
  id: string;
  /** Name given at creation; names need not be unique. */
  name: string;
  /** Owner whose sandboxes and codebases the key may use; empty: a key of role admin. */
  ownerId: string;
  /** "admin": everything, of every owner; "owner": everything of one owner; "agent": commands and files of one sandbox. */
  role: string;
  /** The sandbox of a key of role agent; otherwise empty. */
  sandboxId: string;
  /** Scopes that restrict the key further; none: all that its role may do. */
  scopes: readonly string[];
  /** Time of creation. */
  createdAt: Date;
  /** Time from which the key is refused; absent: never. */
  expiresAt?: Date | undefined;
  /** Time of the last use, to the minute; absent: never used. */
  lastUsedAt?: Date | undefined;
  /** Identifier of the key that created this one; empty: it was created on the server's host. */
  createdBy: string;
  /** Beginning and end of the key, to recognize it: "pdk_7f3a9c2e_…9c". */
  mask: string;
}

/** Request of CreateKey. */
export interface CreateKeyRequest {
  /** Name of the key. */
  name: string;
  /** "admin", "owner" or "agent". */
  role: string;
  /** Owner of a key of role owner; empty: the caller's own. Only admins may name another. */
  ownerId?: string | undefined;
  /** Sandbox of a key of role agent. */
  sandboxId?: string | undefined;
  /** Scopes that restrict the key further; none: all that its role may do. */
  scopes?: readonly string[] | undefined;
  /** Time until the key expires; 0: never. */
  expiresIn?: Duration | undefined;
}

/** Response of CreateKey. */
export interface CreatedKey {
  /** The key without its secret. */
  key?: Key | undefined;
  /** The key itself, as callers send it. The server does not store it and cannot show it again. */
  secret: string;
  /** Set if the request was repeated with its idempotency key after its answer: why `secret` is empty; otherwise empty. */
  notice: string;
}

/** Request of ListKeys. */
export interface ListKeysRequest {
  /** Only keys of this owner; empty: of every owner (admins), or of the caller's own. */
  ownerId?: string | undefined;
}

/** Response of ListKeys. */
export interface ListKeysResponse {
  /** Keys of this page. */
  keys: readonly Key[];
  /** page_token of the next page; empty: this was the last page. */
  nextPageToken: string;
}

/** Request of RevokeKey. */
export interface RevokeKeyRequest {
  /** Key to revoke. */
  keyId: string;
}

/** Request of GetCaller. */
export type GetCallerRequest = Record<string, never>;

/** The rights of a caller. */
export interface Caller {
  /** "admin", "owner" or "agent"; "admin" if authentication is off. */
  role: string;
  /** Owner whose sandboxes and codebases the caller may use; empty: every owner. */
  ownerId: string;
  /** The only sandbox that the caller may use; empty: not restricted. */
  sandboxId: string;
  /** Scopes that restrict the caller further; none: all that the role may do. */
  scopes: readonly string[];
  /** Key of the caller; absent if authentication is off. */
  key?: Key | undefined;
}

/** Request of CreateTicket. */
export interface CreateTicketRequest {
  /** Path and query of the request that the ticket is for, as in its URL: "/v1/sandboxes/sb_1/files/a.txt?as=owner". */
  path: string;
}

/** Response of CreateTicket. */
export interface Ticket {
  /** The value of the query parameter `ticket`. It can be used once. */
  ticket: string;
  /** Time from which it is refused: 30 seconds after its creation. */
  expiresAt: Date;
}

/** What the commands of a sandbox can connect to. */
export interface NetworkPolicy {
  /** "none" or empty: nothing; "allow_list": what a rule allows; "open": every public address, except what a rule denies. */
  mode: string;
  /** Rules, at most 256. In answers with those of the presets. */
  rules: readonly NetworkRule[];
  /** Increases with each change. 0: the sandbox never had a policy. Without effect in CreateSandbox and Fork. */
  revision: number;
  /** Names of presets (see ListNetworkPresets) whose rules are added to `rules`. In answers empty. */
  presets: readonly string[];
}

/** A rule: what it allows or denies is the connections that all of its fields match. */
export interface NetworkRule {
  /** A name, or "*." and a name for all names below it. Either this or `cidr`. Case and a dot at the end do not matter. */
  host: string;
  /** A network, for example "10.1.0.0/16" or "2001:db8::/32", or one address. */
  cidr: string;
  /** Ports; none: 80 and 443, and with "deny" all. */
  ports: readonly number[];
  /** "allow" or empty, or "deny". */
  action: string;
  /** Only HTTP requests with these methods; none: all, and what is not HTTP. Over TLS it needs `tls`. */
  methods: readonly string[];
  /** Only HTTP requests whose path is this one or below it; empty: all, and what is not HTTP. Over TLS it needs `tls`. */
  pathPrefix: string;
  /** "inspect": the server decrypts TLS to this host, with a certificate that the sandbox trusts. Empty: it does not. */
  tls: string;
  /** Preset that the rule comes from; empty: none. */
  preset: string;
}

/** A host that connections of a sandbox were refused to. */
export interface DeniedHost {
  /** The name that the program asked for, or the address. */
  host: string;
  /** Port; 0: the name was not resolved. */
  port: number;
  /** "denied_by_rule", "not_allowed", "special_address", "ceiling", "needs_inspection" or another reason of the same form. */
  code: string;
  /** The reason as a sentence. */
  reason: string;
  /** The address that was refused; empty: the decision was about the name or a request. */
  address: string;
}

/** Hosts that connections of a sandbox were refused to. */
export interface DeniedHosts {
  /** The hosts. */
  hosts: readonly DeniedHost[];
}

/** Request of GetNetwork. */
export interface GetNetworkRequest {
  /** Sandbox whose policy is returned. */
  sandboxId: string;
}

/** Request of UpdateNetwork. */
export interface UpdateNetworkRequest {
  /** Sandbox to change. */
  sandboxId: string;
  /** As in NetworkPolicy. */
  mode: string;
  /** As in NetworkPolicy: all rules of the new policy. */
  rules?: readonly Partial<NetworkRule>[] | undefined;
  /** As in NetworkPolicy. */
  presets?: readonly string[] | undefined;
  /** Revision of the policy that is replaced; 0: whatever it is. */
  revision?: number | undefined;
}

/** Request of ExplainNetwork. */
export interface ExplainNetworkRequest {
  /** Sandbox whose policy decides. */
  sandboxId: string;
  /** Name or address to connect to. */
  host: string;
  /** Port; 0: 443. */
  port?: number | undefined;
  /** Method of an HTTP request, for rules with `methods`; empty: the connection itself. */
  method?: string | undefined;
  /** Path of an HTTP request, for rules with `path_prefix`; empty: the connection itself. */
  path?: string | undefined;
}

/** A rule that a connection matches. */
export interface MatchingNetworkRule {
  /** Index in the `rules` of the policy. */
  index: number;
  /** The rule. */
  rule?: NetworkRule | undefined;
}

/** The decision on a connection. */
export interface NetworkExplanation {
  /** Whether the connection is allowed. */
  allowed: boolean;
  /** "allowed", "denied_by_rule", "not_allowed", "special_address", "ceiling" or "needs_inspection". */
  code: string;
  /** The decision as a sentence. */
  reason: string;
  /** The rule that decides; absent: the mode, the server's network.allow_max or a special address does. */
  winner?: MatchingNetworkRule | undefined;
  /** The other rules that match, in the order in which they would decide. */
  beaten: readonly MatchingNetworkRule[];
  /** Whether the decision on each HTTP request needs inspected TLS. */
  inspect: boolean;
  /** Name or address as it is compared with the rules: in lower case and ASCII. */
  host: string;
}

/** Request of ListConnections. */
export interface ListConnectionsRequest {
  /** Sandbox whose connections are listed. */
  sandboxId: string;
}

/** A connection of a sandbox, or an attempt that was refused. */
export interface Connection {
  /** Number of the connection, which increases within a sandbox. */
  sequence: number;
  /** The name that the program asked for; empty if it used an address. */
  host: string;
  /** The address that was connected to; empty: none. */
  address: string;
  /** Port. */
  port: number;
  /** "tls", "http", "tcp" or "dns". */
  protocol: string;
  /** Whether it was allowed. */
  allowed: boolean;
  /** As in NetworkExplanation, or another reason of the same form. */
  code: string;
  /** The decision as a sentence. */
  reason: string;
  /** Index in the `rules` of the policy in force at its start; -1: no rule decided, or a request or a name was refused. */
  rule: number;
  /** Bytes that the sandbox sent. */
  sentBytes: number;
  /** Bytes that the sandbox received. */
  receivedBytes: number;
  /** Time of its start. */
  openedAt: Date;
  /** Time of its end; absent: it is open. */
  closedAt?: Date | undefined;
  /** Number of equal attempts that were refused; 1 for a connection. */
  count: number;
}

/** Response of ListConnections. */
export interface ListConnectionsResponse {
  /** Connections of this page. */
  connections: readonly Connection[];
  /** page_token of the next page; empty: this was the last page. */
  nextPageToken: string;
}

/** Request of WatchNetwork. */
export interface WatchNetworkRequest {
  /** Sandbox whose network is watched. */
  sandboxId: string;
  /** `sequence` of the last event that the caller has; 0: none. */
  after?: number | undefined;
  /** Only what is refused. */
  deniedOnly?: boolean | undefined;
}

/** An event of the network of a sandbox. It carries a `connection`, or one of `lost`, `end` and `keepalive`. */
export interface NetworkEvent {
  /**
   * Number of the event, which increases within a sandbox: with `after` a watch goes on behind it. Messages without a
   * connection have that of the event before them.
   */
  sequence: number;
  /** "opened", "closed" or "refused"; empty without a connection. Equal refusals are one event in each second. */
  kind: string;
  /** The connection at this moment, or the attempt that was refused. */
  connection?: Connection | undefined;
  /**
   * Events before the next one that are not kept any more: the reader was slower than they came. At the beginning of a
   * watch with `after` this may count some that the caller has.
   */
  lost: number;
  /** The end of the network: the last event. */
  end?: NetworkEnd | undefined;
  /** Sent every 15 seconds in which nothing else was sent. */
  keepalive: boolean;
}

/** Why there are no more events. */
export interface NetworkEnd {
  /** "closed": the network is not open, or not any more. */
  reason: string;
}

/** Request of ListNetworkPresets. */
export type ListNetworkPresetsRequest = Record<string, never>;

/** A named set of rules. */
export interface NetworkPreset {
  /** Name for `presets` of a policy. */
  name: string;
  /** Purpose of the rules, as a sentence. */
  description: string;
  /** Rules of the preset. */
  rules: readonly NetworkRule[];
}

/** Response of ListNetworkPresets. */
export interface ListNetworkPresetsResponse {
  /** All presets. */
  presets: readonly NetworkPreset[];
}

/** Limits of one owner. 0: no limit. */
export interface OwnerLimits {
  /** Calls per second, of all keys of the owner together. */
  requestsPerSecond?: number | undefined;
  /** Calls at once after a pause; 0: as many as requests_per_second. */
  requestBurst?: number | undefined;
  /** Commands that run at the same time. */
  commands?: number | undefined;
  /** Streams, uploads, downloads and exports at the same time. */
  streams?: number | undefined;
  /** New sandboxes, forks, codebases, checkpoints and keys per minute. */
  createsPerMinute?: number | undefined;
  /** Codebases. */
  codebases?: number | undefined;
  /** Bytes of the files of all codebases together. */
  storedBytes?: number | undefined;
  /** Sandboxes that are neither destroyed nor expired. */
  sandboxes?: number | undefined;
  /** Memory of all sandboxes together, in bytes. */
  memoryBytes?: number | undefined;
  /** CPU time of all sandboxes together, in microseconds per 100,000: 200000 is two processors. */
  cpuQuota?: number | undefined;
  /** Bytes that all sandboxes together keep, running and stopped, with their checkpoints. */
  deltaBytes?: number | undefined;
}

/** Request of SetOwnerLimits. */
export interface SetOwnerLimitsRequest {
  /** Owner whose limits are set. */
  ownerId: string;
  /** The limits that differ from the configured ones; an absent field: as configured. */
  limits?: Partial<OwnerLimits> | undefined;
}

/** Request of GetOwnerLimits. */
export interface GetOwnerLimitsRequest {
  /** Owner whose limits are asked for. */
  ownerId: string;
}

/** The limits of an owner. */
export interface OwnerSettings {
  /** The owner. */
  ownerId: string;
  /** The limits that were set for this owner. */
  set?: OwnerLimits | undefined;
  /** All limits in force: those that were set, and the configured ones. */
  effective?: OwnerLimits | undefined;
}

/**
 * One rule. For each path one rule wins: the highest priority; then FILE over DIRECTORY over GLOB; then the more
 * specific pattern; then the more restrictive permission. A path that no rule matches has "none".
 */
export interface PermissionRule {
  /** Matched from the codebase root; a leading "/" is optional. */
  pattern: string;
  /** Access that the rule grants. */
  permission: Permission;
  /** Syntax and meaning of the pattern. */
  type: PatternType;
  /** Precedence over other rules; higher wins. */
  priority: number;
  /**
   * What is written at these paths is kept and seen by the sandbox, and is no change of it: ListChanges, ExportChanges,
   * Commit, automatic commits and Discard leave it out, unless they ask for it. Only with "write". A rule that is
   * scratch wins over an otherwise equal one that is not. A `**` in its glob, except at the end, does not match `.git`.
   */
  scratch?: boolean | undefined;
  /**
   * "redacted": files show placeholders in place of their values to programs and to callers with `as` "agent". Keys, comments
   * and order stay; nothing can be changed, unless `on_write` says so. A file that its redactor cannot read is hidden as a whole. Only with
   * "read". Empty: the contents as they are.
   */
  view?: string | undefined;
  /**
   * With `view` or `contents` "redacted", what writing does. Empty or "refuse": nothing can be changed. "merge": programs can change,
   * replace, rename and remove the files, with placeholders. A commit puts the values of the codebase's file at the same path
   * in place of placeholders that are still at their keys; all others stay placeholders.
   */
  onWrite?: string | undefined;
  /**
   * With `view` or `contents` "redacted", how values are found: "dotenv", "json", "yaml", "ini", "netrc", "pem", "gitconfig",
   * "tokens" (what looks like a token, in any text), or "all" (nothing is shown). Empty: by the name of the file.
   */
  redactor?: string | undefined;
  /**
   * The rule decides no permission, but what is shown of files that another rule lets be read; `permission` must be
   * "none". "redacted": placeholders in place of secrets; what may be written can be, as with `on_write` "merge",
   * unless that is "refuse". "kept": the contents as they are, which cannot be changed. "shown": as they are. Of several such rules one wins, by the same precedence. Empty: an ordinary rule.
   */
  contents?: string | undefined;
}

/**
 * Rules in a short form: a list of patterns for each permission. The strictest list that matches a path decides, in the
 * order none, view, redacted, read, scratch, write; the pattern "**" stands for all paths that no other pattern matches. A pattern
 * without special characters is a path with everything below it, others are globs. A pattern in two lists, and one that
 * can never decide because a stricter list matches all its paths, is refused. The sandbox's `permissions` show the rules
 * that this stands for.
 */
export interface PermissionRules {
  /** Every operation is allowed. */
  write: readonly string[];
  /** The contents can be read; nothing can be changed. */
  read: readonly string[];
  /** The paths do not exist for commands. */
  none: readonly string[];
  /** Every operation is allowed, and what is written is no change of the sandbox. See PermissionRule. */
  scratch: readonly string[];
  /** The paths are listed; their contents cannot be opened. */
  view: readonly string[];
  /** The contents can be read with placeholders in place of values; nothing can be changed. See PermissionRule. */
  redacted: readonly string[];
  /** Contents that a preset redacts are shown as they are; the permission is that of the other lists. See PermissionRule. */
  shown: readonly string[];
}

/** Something about the rules of a sandbox that is probably not meant. */
export interface RuleWarning {
  /**
   * "no_rules", "matches_nothing", "directory_only", "never_decides", "readable_secret" or "incomplete" (the codebase was
   * too large to be examined completely).
   */
  code: string;
  /** Index in the sandbox's `permissions`; -1: the warning is not about one rule. */
  rule: number;
  /** The path that the warning is about; empty: none. */
  path: string;
  /** The warning as a sentence. */
  message: string;
}

/** Request of UpdatePermissions. */
export interface UpdatePermissionsRequest {
  /** Sandbox whose rules are replaced. */
  sandboxId: string;
  /** New rules, in addition to those of `preset`. No rule at all hides everything. */
  permissions?: readonly Partial<PermissionRule>[] | undefined;
  /** Name of a preset (see ListPresets) that `permissions` extend; empty: none. */
  preset?: string | undefined;
  /** Rules in a short form, in addition to those of `preset`; `permissions` must be empty then. */
  rules?: Partial<PermissionRules> | undefined;
}

/** Request of ExplainPermission. */
export interface ExplainPermissionRequest {
  /** Sandbox whose rules are explained. */
  sandboxId: string;
  /** Path from the codebase root; empty: the root itself. */
  path?: string | undefined;
  /**
   * "owner" or empty: everything; "agent": only what the rules show to the sandbox's commands. A key of role agent sees
   * what "agent" shows.
   */
  as?: string | undefined;
}

/** A rule that matches a path. */
export interface MatchingRule {
  /** Index in the sandbox's `permissions`. */
  index: number;
  /** The rule. */
  rule?: PermissionRule | undefined;
}

/** Permission of a path, with the rules that decide it. */
export interface PermissionExplanation {
  /** Path from the codebase root. */
  path: string;
  /** Permission of the path. */
  permission: Permission;
  /** The rule that wins; absent: no rule matches. */
  winner?: MatchingRule | undefined;
  /** The other rules that match, best first. */
  beaten: readonly MatchingRule[];
  /** True if the path itself is hidden, but a directory there can be traversed because paths below it can be visible. */
  passThrough: boolean;
  /** The decision as a sentence. */
  reason: string;
}

/** Request of ListRefusals. */
export interface ListRefusalsRequest {
  /** Sandbox whose refusals are listed. */
  sandboxId: string;
}

/** A path at which the rules refused what a command tried. */
export interface RefusedPath {
  /** Path from the codebase root. Of a name that could not be made in a directory, it may be the directory. */
  path: string;
  /**
   * "hidden", "not_readable", "read_only", "placeholders" (they cannot be written), or "protected": what would be moved or
   * removed with it.
   */
  code: string;
  /** The reason as a sentence. */
  reason: string;
  /** The rule that decides; absent: no rule matches, or those of other paths decide. */
  rule?: MatchingRule | undefined;
  /** Number of times. */
  count: number;
}

/** Response of ListRefusals. */
export interface ListRefusalsResponse {
  /** The paths, in the order in which they were first refused. */
  refusals: readonly RefusedPath[];
}

/** A named set of rules. */
export interface Preset {
  /** Name for the `preset` field of requests. */
  name: string;
  /** Purpose of the rules, as a sentence. */
  description: string;
  /** Rules of the preset. */
  permissions: readonly PermissionRule[];
}

/** Request of ListPresets. */
export type ListPresetsRequest = Record<string, never>;

/** Response of ListPresets. */
export interface ListPresetsResponse {
  /** All presets. */
  presets: readonly Preset[];
}

/** Request of OpenPort. */
export interface OpenPortRequest {
  /** Sandbox whose port is opened. It need not run. */
  sandboxId: string;
  /** Number of the port, 1 to 65535. Nothing needs to listen on it yet. */
  port?: number | undefined;
  /**
   * Who may use it: "key", callers with a key that may run commands in the sandbox; "link", also everybody who has the link
   * token of the answer. Empty: "key".
   */
  access?: string | undefined;
  /** Time until it is closed; 0: never. */
  expiresIn?: Duration | undefined;
}

/** Response of OpenPort. */
export interface OpenPortResponse {
  /** The sandbox. */
  sandboxId: string;
  /** Number of the port. */
  port: number;
  /** See OpenedPort. */
  url: string;
  /** "key" or "link". */
  access: string;
  /** With access "link": the secret for `url`, as its query parameter `paddock_token`. No other answer has it. */
  linkToken: string;
  /** Time when it is closed; absent: never. */
  expiresAt?: Date | undefined;
  /** Time when it was opened. */
  createdAt: Date;
}

/** An opened port. */
export interface OpenedPort {
  /** The sandbox. */
  sandboxId: string;
  /** Number of the port. */
  port: number;
  /** Where HTTP servers on the port are reached: a URL if the server has a `preview_domain`, otherwise a path of this service. */
  url: string;
  /** "key" or "link". */
  access: string;
  /** Time when it is closed; absent: never. */
  expiresAt?: Date | undefined;
  /** Time when it was opened. */
  createdAt: Date;
}

/** Request of ListPorts. */
export interface ListPortsRequest {
  /** Sandbox whose opened ports are listed. */
  sandboxId: string;
  /** Has no effect. Over REST this parameter selects ListPorts; without it the path is that of WaitPort. */
  opened?: boolean | undefined;
  /** List also the ports on which programs listen. FAILED_PRECONDITION if the sandbox does not run. */
  listening?: boolean | undefined;
}

/** Response of ListPorts. */
export interface ListPortsResponse {
  /** The opened ports. */
  ports: readonly OpenedPort[];
  /** Ports on which programs of the sandbox listen, opened or not, in ascending order; see WaitPort for more about them. */
  listening: readonly number[];
}

/** Request of GetPort. */
export interface GetPortRequest {
  /** Sandbox of the port. */
  sandboxId: string;
  /** Number of the port. */
  port: number;
}

/** Request of ClosePort. */
export interface ClosePortRequest {
  /** Sandbox of the port. */
  sandboxId: string;
  /** Number of the port. */
  port: number;
}

/** Size of a terminal. */
export interface TerminalSize {
  /** Characters in a line: 1 to 1000. At the start of a process 0 is 80. */
  columns: number;
  /** Lines: 1 to 1000. At the start of a process 0 is 24. */
  rows: number;
}

/** Request of StartProcess. */
export interface StartProcessRequest {
  /** Sandbox that runs the process. */
  sandboxId: string;
  /**
   * Id chosen by the caller, unique in the sandbox, so that a repeated request starts nothing twice; empty: the server
   * chooses one. 1 to 64 letters, digits, "-", "_" and ".", the first one a letter or a digit.
   */
  processId?: string | undefined;
  /** Command, run by `shell` -c. Either this or `argv`. */
  command?: string | undefined;
  /** Program and its arguments, without a shell; a program without "/" is found by PATH. */
  argv?: readonly string[] | undefined;
  /** Environment variables, in addition to the sandbox's own, over which they take precedence. */
  env?: Record<string, string> | undefined;
  /** Working directory; a relative path starts at /workspace. Empty: the sandbox's `workdir`, or /workspace. */
  workdir?: string | undefined;
  /** Keep standard input open for WriteProcessInput. Otherwise it is empty. */
  stdin?: boolean | undefined;
  /**
   * Give the process a terminal of this size as standard input, output and error; none if this is absent.
   * FAILED_PRECONDITION if the sandbox has no program that can make one.
   */
  terminal?: Partial<TerminalSize> | undefined;
  /** Time until the process and every process that it started are killed; 0: never. */
  timeout?: Duration | undefined;
  /** Labels of the process. */
  labels?: Record<string, string> | undefined;
  /** Shell that runs `command`; see ExecRequest. */
  shell?: string | undefined;
  /** Standard output and error are one stream, "stdout", in the order in which they were written. No effect with a terminal. */
  merge?: boolean | undefined;
}

/** A process. */
export interface Process {
  /** Sandbox that runs it. */
  sandboxId: string;
  /** Id, unique in the sandbox. */
  processId: string;
  /** Its shell command; empty with `argv`. */
  command: string;
  /** Its program and arguments. */
  argv: readonly string[];
  /** Its working directory, as requested. */
  workdir: string;
  /** Its labels. */
  labels: Record<string, string>;
  /** Time of its start. */
  startedAt: Date;
  /** Time of its end; absent while it runs. */
  endedAt?: Date | undefined;
  /** Its end; absent while it runs. */
  end?: ProcessEnd | undefined;
  /** Bytes of output written so far; the offset of the next byte. */
  outputNext: number;
  /** Offset of the first byte that is still kept. */
  outputFirst: number;
  /** Bytes of input taken so far; the offset of the next byte. */
  inputNext: number;
  /** Whether its standard input is open for WriteProcessInput. */
  stdinOpen: boolean;
  /** Size of its terminal; absent without one. */
  terminal?: TerminalSize | undefined;
}

/** The end of a process. */
export interface ProcessEnd {
  /**
   * - "exited": it ended by itself, with `exit_code`
   * - "signaled": a signal ended it; a shell's exit code of 128+N counts as signal N
   * - "timeout": its timeout was over
   * - "out_of_memory": the sandbox's memory limit ended it
   * - "killed": SignalProcess with SIGKILL, or DeleteProcess
   * - "sandbox_stopped": its sandbox was stopped or destroyed
   * - "sandbox_lost": its sandbox failed, or the server was restarted
   */
  reason: string;
  /** Exit code; 128+N if signal N ended it; -1 if it is not known. */
  exitCode: number;
  /** Number of the signal that ended it; otherwise 0. */
  signal: number;
  /** Run time in milliseconds. */
  durationMs: number;
  /**
   * Connections of the sandbox that were refused while the process ran, by this process or another one: at most 50 names
   * or addresses with their ports, each once. Absent: none.
   */
  denied?: DeniedHosts | undefined;
}

/** Request of GetProcess. */
export interface GetProcessRequest {
  /** Sandbox of the process. */
  sandboxId: string;
  /** Process to return. */
  processId: string;
}

/** Request of ListProcesses. */
export interface ListProcessesRequest {
  /** Sandbox whose processes are listed. */
  sandboxId: string;
  /** Only processes with all of these labels, with these values. */
  labels?: Record<string, string> | undefined;
  /** Only processes that run. */
  running?: boolean | undefined;
}

/** Response of ListProcesses. */
export interface ListProcessesResponse {
  /** Processes of this page. */
  processes: readonly Process[];
  /** Token of the next page; empty after the last one. */
  nextPageToken: string;
}

/** Request of DeleteProcess. */
export interface DeleteProcessRequest {
  /** Sandbox of the process. */
  sandboxId: string;
  /** Process to delete. */
  processId: string;
}

/** Request of SignalProcess. */
export interface SignalProcessRequest {
  /** Sandbox of the process. */
  sandboxId: string;
  /** Process that gets the signal. */
  processId: string;
  /** Name of the signal, for example "SIGINT" or "SIGTERM". */
  signal: string;
}

/** Request of ResizeTerminal. */
export interface ResizeTerminalRequest {
  /** Sandbox of the process. */
  sandboxId: string;
  /** Process whose terminal is resized. */
  processId: string;
  /** Characters in a line: 1 to 1000. */
  columns?: number | undefined;
  /** Lines: 1 to 1000. */
  rows?: number | undefined;
}

/** Request of ReadProcessOutput. */
export interface ReadProcessOutputRequest {
  /** Sandbox of the process. */
  sandboxId: string;
  /** Process whose output is read. */
  processId: string;
  /** Offset of the first byte to return. INVALID_ARGUMENT above `output_next`. */
  offset?: number | undefined;
  /** Maximum number of bytes to return, up to 1 MiB; 0: 64 KiB. */
  maxBytes?: number | undefined;
  /** Time to wait for output or the end if there is none yet, up to 60000. */
  wait?: Duration | undefined;
}

/** A part of the output of a process. */
export interface ProcessOutput {
  /** Stream that the bytes were written to: "stdout", "stderr" or "terminal". */
  stream: string;
  /** Offset of the first byte. */
  offset: number;
  /** The bytes. */
  data: Uint8Array;
}

/** Response of ReadProcessOutput. */
export interface ReadProcessOutputResponse {
  /** Bytes between the requested offset and the first returned byte that are no longer kept. */
  gap: number;
  /** Output in the order of the offsets. */
  output: readonly ProcessOutput[];
  /** Offset for the next call. */
  next: number;
  /** The end of the process, if all of its output has been returned. */
  end?: ProcessEnd | undefined;
}

/** Request of WatchProcess. */
export interface WatchProcessRequest {
  /** Sandbox of the process. */
  sandboxId: string;
  /** Process to watch. */
  processId: string;
  /** Offset of the first byte to send. INVALID_ARGUMENT above `output_next`. */
  offset?: number | undefined;
}

/** An event of a process. It carries output (`data`), or one of `gap`, `end`, `keepalive` and `attached`. */
export interface ProcessEvent {
  /** Next bytes of the output. */
  data: Uint8Array;
  /** Stream that the bytes were written to: "stdout", "stderr" or "terminal"; empty without output. */
  stream: string;
  /** Offset after this event: a reader that starts there continues with the next one. */
  next: number;
  /** Bytes before the next output that are no longer kept. */
  gap: number;
  /** The end of the process: the last event. */
  end?: ProcessEnd | undefined;
  /** Sent every 15 seconds in which nothing else was sent. */
  keepalive: boolean;
  /** The first event of AttachProcess, and of no other. */
  attached?: Attached | undefined;
}

/** How a caller is attached to a process. */
export interface Attached {
  /** Whether the process has a terminal. */
  terminal: boolean;
  /** Whether this caller may write. */
  writer: boolean;
  /** End of the output at this moment: output before it is a replay. */
  offset: number;
}

/** Request of WriteProcessInput. */
export interface WriteProcessInputRequest {
  /** Sandbox of the process. */
  sandboxId: string;
  /** Process to write to. */
  processId: string;
  /**
   * Offset of the first byte in the whole input, so that a repeated request writes nothing twice: bytes before
   * `input_next` are skipped. INVALID_ARGUMENT above it. Absent: append.
   */
  offset?: number | undefined;
  /** Close standard input after the last byte. Sends ^D to a terminal. */
  end?: boolean | undefined;
}

/** Response of WriteProcessInput. */
export interface WriteProcessInputResponse {
  /** Bytes of input taken so far: the offset of the next byte. */
  inputNext: number;
}

/** Request of WaitPort. */
export interface WaitPortRequest {
  /** Sandbox whose ports are listed. */
  sandboxId: string;
  /** Only this port; 0: every port. */
  port?: number | undefined;
  /** Time to wait until it (with `port` 0: any port) is listened on, up to 600000. */
  wait?: Duration | undefined;
  /** Has no effect: all ports in the answer are listened on. */
  listening?: boolean | undefined;
}

/** A TCP port on which a program of a sandbox listens. */
export interface ListeningPort {
  /** Number of the port. */
  port: number;
  /** Address that it is bound to, for example "127.0.0.1", "0.0.0.0" or "::". */
  address: string;
  /** Id inside the sandbox of a process that has the socket; 0 if it is not known. */
  pid: number;
  /** Name of that process's program, at most 15 bytes; empty if it is not known. */
  program: string;
  /** Process (see StartProcess) that it belongs to; empty for a command of Exec or a session. */
  processId: string;
}

/** Response of WaitPort. */
export interface WaitPortResponse {
  /** Whether the port (with `port` 0: any port) is listened on. False if that was not so within `wait`. */
  listening: boolean;
  /** The ports, in the order of their numbers. */
  ports: readonly ListeningPort[];
}

/** A message of the caller of AttachProcess. */
export interface AttachProcessRequest {
  /** Sandbox of the process. In the first message; later ones leave it empty or repeat it, like the next three fields. */
  sandboxId: string;
  /** Process to attach to. */
  processId: string;
  /** Offset of the first byte of output to send. INVALID_ARGUMENT above `output_next`. */
  offset?: number | undefined;
  /** Become the caller that may write, whoever it is now. */
  takeover?: boolean | undefined;
  /** Bytes to write, at the pace at which the process reads. */
  stdin?: Uint8Array | undefined;
  /** Close standard input after these bytes. Sends ^D to a terminal. */
  endStdin?: boolean | undefined;
  /**
   * New size of the terminal. It does not wait for input that the process has not read. Without effect if the process has
   * no terminal, or the caller may not write.
   */
  resize?: Partial<TerminalSize> | undefined;
  /** Signal for the process and every process that it started, for example "SIGINT". It does not wait for input either. */
  signal?: string | undefined;
}

/** Limits of a sandbox. 0: no limit; in a request: the server's default. */
export interface ResourceLimits {
  /** Memory of all processes together in bytes. */
  memoryBytes: number;
  /** CPU time in microseconds per 100 000 microseconds: 150000 is one and a half processors. */
  cpuQuota: number;
  /** Relative CPU weight; 1024 is one share. */
  cpuShares: number;
  /** Number of processes and threads. */
  pidsLimit: number;
}

/** An isolated environment attached to a codebase. */
export interface Sandbox {
  /** Identifier: "sb_", then letters and digits. */
  id: string;
  /** Codebase that the sandbox works on. */
  codebaseId: string;
  /** State of the sandbox. */
  status: SandboxStatus;
  /** Rules in force. */
  permissions: readonly PermissionRule[];
  /** Labels; see UpdateSandbox. */
  labels: Record<string, string>;
  /** Time of creation. */
  createdAt: Date;
  /** Time at which the sandbox expires: from then on it refuses commands, and `on_expire` happens; absent: never. */
  expiresAt?: Date | undefined;
  /** Mechanism that isolates the sandbox. */
  runtime: Runtime;
  /** Container image, or with "bwrap" the id of an image of the server; empty: the host's system. */
  image: string;
  /** Limits in force. */
  resources?: ResourceLimits | undefined;
  /** Reason for "error", or for the last restart of the sandbox by the server itself; empty otherwise. */
  statusReason: string;
  /** "never", "on_exec" or "on_stop". */
  autoCommit: string;
  /** Reason why the last automatic commit failed; empty: it succeeded, or there was none. */
  autoCommitError: string;
  /** True after an automatic commit met a conflict: no automatic commit is made until a Commit or Discard succeeds. */
  autoCommitStopped: boolean;
  /** Owner of the sandbox: that of its codebase; may be empty. */
  ownerId: string;
  /**
   * Seconds without use after which `on_idle` happens; 0: never. Every call that names the sandbox is use, until its
   * answer was sent: commands, streams, uploads and downloads for their whole duration. Lists are not.
   */
  idleTimeout: number;
  /**
   * "stop": a running sandbox is stopped, as by StopSandbox. "destroy": the sandbox is destroyed in every state, as by
   * DestroySandbox.
   */
  onIdle: string;
  /** Shell of its commands, processes and sessions that name none; empty: sh, and bash for sessions. */
  shell: string;
  /** Environment variables of its commands, processes and sessions, under those of each request. */
  env: Record<string, string>;
  /** Working directory of its commands, processes and sessions that name none; empty: /workspace. */
  workdir: string;
  /**
   * What happens at `expires_at`. "keep_changes": the sandbox is stopped if it has uncommitted changes or checkpoints, and
   * destroyed otherwise. "stop": it is stopped. "destroy": it is destroyed. See docs/life-cycle.md.
   */
  onExpire: string;
  /** True from an hour before `expires_at` on, also once the sandbox has expired. */
  expiresSoon: boolean;
  /**
   * Time at which the sandbox is destroyed, after it expired and was stopped instead; absent: it was not, or it is never
   * destroyed.
   */
  destroyAt?: Date | undefined;
  /** What its commands can connect to. See NetworkService. */
  network?: NetworkPolicy | undefined;
  /** Secrets that its commands can use by placeholders. */
  secrets: readonly SandboxSecret[];
  /**
   * What is probably not meant in the rules, in the answers of CreateSandbox, UpdatePermissions and Fork: at most 50. In
   * other answers empty.
   */
  warnings: readonly RuleWarning[];
  /** Directories and files of the host that its commands see read-only at the same paths. */
  readOnlyPaths: readonly string[];
  /** Where its commands see the workspace, too, beside /workspace; empty: nowhere. */
  workspacePath: string;
}

/** A secret that a new sandbox is to be bound to: a stored one of its owner, or a value of a redacted file. */
export interface SecretBinding {
  /** Name of the stored secret. */
  name: string;
  /** Environment variable that has the placeholder in commands, processes and sessions. */
  variable: string;
  /**
   * Hosts that the sandbox may use the secret for, each within those of the secret; none: those of the secret, also after
   * they change.
   */
  hosts: readonly string[];
  /** What the placeholder begins with; empty: as the secret says. See PutSecretRequest. */
  shape: string;
  /**
   * "redacted": the value of `key` in the file at `path`, which a rule with `view` "redacted" shows with the placeholder.
   * `hosts` must be set, and `name`, `variable` and `shape` be empty. Empty: a stored secret.
   */
  source?: string | undefined;
  /** Path of the redacted file from the root of the workspace. */
  path?: string | undefined;
  /** Key of the value, as PreviewFile shows it. */
  key?: string | undefined;
}

/** A secret that a sandbox is bound to. */
export interface SandboxSecret {
  /** Name of the secret. */
  name: string;
  /** Environment variable with the placeholder. */
  variable: string;
  /** Hosts that the sandbox may use the secret for, if also the secret allows them; none: those of the secret. */
  hosts: readonly string[];
  /** What commands have in place of the value. It is no secret: it is only of use in this sandbox. Empty with `path`. */
  placeholder: string;
  /** Path of the redacted file that has the placeholder; empty: a stored secret. */
  path?: string | undefined;
  /** Key of the value in that file. */
  key?: string | undefined;
}

/** Request of CreateSandbox. */
export interface CreateSandboxRequest {
  /** Codebase that the sandbox works on. */
  codebaseId: string;
  /** Rules, in addition to those of `preset`. No rule at all hides everything. */
  permissions?: readonly Partial<PermissionRule>[] | undefined;
  /** Labels: at most 64, with keys of up to 128 and values of up to 1024 characters. */
  labels?: Record<string, string> | undefined;
  /** Time until the sandbox expires; 0: the server's default. */
  expiresIn?: Duration | undefined;
  /** Mechanism that isolates the sandbox; absent: the server's runtime.type. */
  runtime?: Runtime | undefined;
  /**
   * With "docker" a container image, empty: the server's default. With "bwrap" the name or id of an image of
   * the server (see ImageService), empty: the host's system.
   */
  image?: string | undefined;
  /** Limits; a value of 0 takes the server's default. */
  resources?: Partial<ResourceLimits> | undefined;
  /** Name of a preset (see ListPresets) that `permissions` extend; empty: none. */
  preset?: string | undefined;
  /**
   * Time of automatic commits: "on_exec" (before the answer of each command, and as "on_stop"), "on_stop" (when the
   * sandbox is stopped, destroyed or expires), "never" or empty. They never overwrite a conflicting version.
   */
  autoCommit?: string | undefined;
  /** Time without use after which `on_idle` happens; 0: never. See Sandbox. */
  idleTimeout?: Duration | undefined;
  /** "stop" or empty, or "destroy". See Sandbox. */
  onIdle?: string | undefined;
  /**
   * Shell of commands, processes and sessions that name none: "sh", "bash", or another name in the sandbox's PATH, or an
   * absolute path. Empty: sh, and for sessions bash, or sh if there is none.
   */
  shell?: string | undefined;
  /**
   * Environment variables of commands, processes and sessions. Those of a request take precedence. Commands can read them,
   * and whoever may see the sandbox. At most 256 variables and 64 KiB in all, each with "=" and NUL.
   */
  env?: Record<string, string> | undefined;
  /**
   * Working directory of commands, processes and sessions that name none; a relative path starts at /workspace. Empty:
   * /workspace. It may be created later.
   */
  workdir?: string | undefined;
  /** "keep_changes", "stop" or "destroy"; empty: the server's default. See Sandbox. */
  onExpire?: string | undefined;
  /** What its commands can connect to; absent: nothing. FAILED_PRECONDITION if the server or the runtime has no networks. */
  network?: Partial<NetworkPolicy> | undefined;
  /** Secrets of the codebase's owner that commands can use by placeholders; `network` must be set. At most 64. */
  secrets?: readonly Partial<SecretBinding>[] | undefined;
  /** Rules in a short form, in addition to those of `preset`; `permissions` must be empty then. */
  rules?: Partial<PermissionRules> | undefined;
  /**
   * Directories and files of the host, for example of tools, that commands see read-only at the same paths, as far as
   * their mode bits let other users read them. Each is at or below one of the server's runtime.mountable_paths. Only for
   * "bwrap" without an image.
   */
  readOnlyPaths?: readonly string[] | undefined;
  /**
   * Absolute path at which commands see the workspace, too, beside /workspace: where it is on the caller's machine. Only
   * for "bwrap" without an image.
   */
  workspacePath?: string | undefined;
  /**
   * Check the request and create nothing, for example before the files of the codebase are uploaded. The answer is the
   * sandbox as it would be, "pending" and without an id.
   */
  validateOnly?: boolean | undefined;
}

/** Request of GetSandbox. */
export interface GetSandboxRequest {
  /** Sandbox to return. */
  sandboxId: string;
  /**
   * "owner" or empty: everything; "agent": only what the rules show to the sandbox's commands. A key of role agent sees
   * what "agent" shows.
   */
  as?: string | undefined;
}

/** Request of ListSandboxes. */
export interface ListSandboxesRequest {
  /** Only sandboxes of this codebase; empty: of every codebase. */
  codebaseId?: string | undefined;
  /** Only sandboxes of this owner; empty: of every owner whose sandboxes the caller may use. */
  ownerId?: string | undefined;
  /** Only sandboxes in this state; absent: in every state. */
  status?: SandboxStatus | undefined;
  /** Only sandboxes that have all these labels, with these values. In a REST query: labels.<key>=<value> for each. */
  labels?: Record<string, string> | undefined;
}

/** Response of ListSandboxes. */
export interface ListSandboxesResponse {
  /** Sandboxes of this page. */
  sandboxes: readonly Sandbox[];
  /** page_token of the next page; empty: this was the last page. */
  nextPageToken: string;
}

/** Request of UpdateSandbox. What is absent is not changed. */
export interface UpdateSandboxRequest {
  /** Sandbox to change. */
  sandboxId: string;
  /**
   * Labels to add, or whose values are replaced. The sandbox may then have at most 64. In a merge patch null removes a
   * label.
   */
  labels?: Record<string, string> | undefined;
  /** Keys of labels to remove; a key that the sandbox does not have changes nothing. None may be in `labels`. */
  removeLabels?: readonly string[] | undefined;
  /** Remove all labels, before those of `labels` are added. In a merge patch: null instead of the map of labels. */
  clearLabels?: boolean | undefined;
  /**
   * Time from now until the sandbox expires; 0, and null in a merge patch: the server's default. Absent: the time of
   * expiry is not changed.
   */
  expiresIn?: Duration | undefined;
  /** Time without use after which `on_idle` happens; 0, and null in a merge patch: never. Absent: not changed. */
  idleTimeout?: Duration | undefined;
  /** "stop" or "destroy"; empty, and null in a merge patch: "stop". Absent: not changed. */
  onIdle?: string | undefined;
  /**
   * Environment variables to add, or whose values are replaced, for what is started from now on. The limits of
   * CreateSandbox apply to the result. In a merge patch null removes a variable.
   */
  env?: Record<string, string> | undefined;
  /** Names of variables to remove; one that the sandbox does not have changes nothing. None may be in `env`. */
  removeEnv?: readonly string[] | undefined;
  /** Remove all variables, before those of `env` are added. In a merge patch: null instead of the map. */
  clearEnv?: boolean | undefined;
  /** As in CreateSandboxRequest; empty, and null in a merge patch: none. Absent: not changed. */
  shell?: string | undefined;
  /** As in CreateSandboxRequest; empty, and null in a merge patch: /workspace. Absent: not changed. */
  workdir?: string | undefined;
  /** "keep_changes", "stop" or "destroy"; empty, and null in a merge patch: the server's default. Absent: not changed. */
  onExpire?: string | undefined;
}

/** Request of StartSandbox. */
export interface StartSandboxRequest {
  /** Sandbox to start. */
  sandboxId: string;
}

/** Request of StopSandbox. */
export interface StopSandboxRequest {
  /** Sandbox to stop. */
  sandboxId: string;
}

/** Request of DestroySandbox. */
export interface DestroySandboxRequest {
  /** Sandbox to destroy. */
  sandboxId: string;
  /** Do not commit automatically: uncommitted changes are lost. */
  discard?: boolean | undefined;
}

/** Request of Fork. An empty field takes the value of the forked sandbox. */
export interface ForkRequest {
  /** Sandbox to fork. */
  sandboxId: string;
  /** Number of new sandboxes; 0: 1. */
  count?: number | undefined;
  /** Name of a checkpoint to start from; empty: the present state. */
  checkpoint?: string | undefined;
  /** Rules, in addition to those of `preset`; neither: the rules of the forked sandbox. */
  permissions?: readonly Partial<PermissionRule>[] | undefined;
  /** Name of a preset (see ListPresets) that `permissions` extend; empty: none. */
  preset?: string | undefined;
  /** Labels; none: those of the forked sandbox. */
  labels?: Record<string, string> | undefined;
  /** Time until the new sandboxes expire; 0: the lifetime that the forked sandbox was given. */
  expiresIn?: Duration | undefined;
  /** Limits; a value of 0 takes that of the forked sandbox. */
  resources?: Partial<ResourceLimits> | undefined;
  /** As in CreateSandboxRequest; empty: that of the forked sandbox. */
  autoCommit?: string | undefined;
  /** As in CreateSandboxRequest; absent: that of the forked sandbox. */
  idleTimeout?: Duration | undefined;
  /** As in CreateSandboxRequest; empty: that of the forked sandbox. */
  onIdle?: string | undefined;
  /** As in CreateSandboxRequest; empty: that of the forked sandbox. */
  shell?: string | undefined;
  /** Environment variables, as in CreateSandboxRequest; none: those of the forked sandbox. */
  env?: Record<string, string> | undefined;
  /** As in CreateSandboxRequest; empty: that of the forked sandbox. */
  workdir?: string | undefined;
  /** As in CreateSandboxRequest; empty: that of the forked sandbox. */
  onExpire?: string | undefined;
  /** As in CreateSandboxRequest; absent: that of the forked sandbox. */
  network?: Partial<NetworkPolicy> | undefined;
  /** As in CreateSandboxRequest; none: those of the forked sandbox. Each fork has placeholders of its own. */
  secrets?: readonly Partial<SecretBinding>[] | undefined;
  /**
   * Rules in a short form, in addition to those of `preset`; `permissions` must be empty then. Without `permissions`,
   * `preset` and `rules`: the rules of the forked sandbox.
   */
  rules?: Partial<PermissionRules> | undefined;
}

/** Error of one new sandbox. */
export interface ForkError {
  /** gRPC status code. */
  code: number;
  /** The reason as a sentence. */
  message: string;
}

/** Result for one new sandbox; exactly one field is set. */
export interface ForkResult {
  /** The new sandbox, "running". */
  sandbox?: Sandbox | undefined;
  /** Error that prevented its creation. */
  error?: ForkError | undefined;
}

/** Response of Fork. */
export interface ForkResponse {
  /** One result for each requested sandbox. */
  results: readonly ForkResult[];
}

/** A secret without its value. */
export interface Secret {
  /** Name, unique among those of its owner. */
  name: string;
  /** Owner; empty: none. */
  ownerId: string;
  /** Hosts that the value may be sent to: names ("api.github.com") and all names below one ("*.example.org"). */
  hosts: readonly string[];
  /** Parts of a request in which the placeholder is replaced: "header", "query", "body". */
  parts: readonly string[];
  /** Shape of its placeholders; see PutSecretRequest. */
  shape: string;
  /** The placeholders have the length that the value had at their creation. */
  keepLength: boolean;
  /** Time of creation. */
  createdAt: Date;
  /** Time of the last PutSecret. */
  updatedAt: Date;
  /** Number of values that the secret has had; 1 at first. */
  revision: number;
  /** Sandboxes that are bound to the secret. */
  usedBy: readonly string[];
  /** The one header in which the placeholder is replaced; absent: every header, if `parts` has "header". */
  header?: string | undefined;
}

/** Request of PutSecret. */
export interface PutSecretRequest {
  /** Name: 1 to 64 letters, digits, "-", "_" and ".", the first one a letter or a digit. */
  name: string;
  /** Owner of the secret; empty: the caller's own. Only admins may name another. */
  ownerId?: string | undefined;
  /** The value: 8 to 65536 bytes of text. Without control characters, unless `parts` is only "body". */
  value: string;
  /** Hosts that the value may be sent to, over TLS: names ("api.github.com") and all names below one ("*.example.org"). */
  hosts: readonly string[];
  /** Parts of a request in which the placeholder is replaced: "header", "query", "body"; none: "header". */
  parts?: readonly string[] | undefined;
  /**
   * What the placeholders begin with, for programs that check the form of a value: "ghp_", "sk-", "AKIA". The length is
   * that of such values, if the server knows them. Empty: "pdk_secret_", the name, and 16 hexadecimal digits.
   */
  shape?: string | undefined;
  /** Make placeholders of the length of the value; it must be at least 16 characters longer than `shape`. */
  keepLength?: boolean | undefined;
  /**
   * The one header in which the placeholder is replaced, in lower case ("x-api-key", "authorization"), also where it occurs
   * several times; in other headers it stays as it is. `parts` must have "header", or be empty. Empty: every header.
   */
  header?: string | undefined;
}

/** Request of GetSecret. */
export interface GetSecretRequest {
  /** Name of the secret. */
  name: string;
  /** Owner of the secret; empty: the caller's own. Only admins may name another. */
  ownerId?: string | undefined;
}

/** Request of ListSecrets. */
export interface ListSecretsRequest {
  /** Only secrets of this owner; empty: of every owner (admins), or of the caller's own. */
  ownerId?: string | undefined;
}

/** Response of ListSecrets. */
export interface ListSecretsResponse {
  /** Secrets of this page. */
  secrets: readonly Secret[];
  /** page_token of the next page; empty: this was the last page. */
  nextPageToken: string;
}

/** Request of DeleteSecret. */
export interface DeleteSecretRequest {
  /** Name of the secret. */
  name: string;
  /** Owner of the secret; empty: the caller's own. Only admins may name another. */
  ownerId?: string | undefined;
  /** Remove it although sandboxes are bound to it. Their placeholders are then refused. */
  force?: boolean | undefined;
}
