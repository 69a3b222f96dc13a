import type { OutputStream, ResourceLimits } from '../contract/messages.ts';

/** The parameters of one sandbox. The workspace is a path: a runtime does not know FUSE. */
export interface SandboxSpec {
  id: string;
  /** Host path shown at /workspace inside; its file system enforces the rules. */
  workspace: string;
  /** Private host directory of this sandbox, for a runtime that needs one: created by `launch`, removed by `stop`. */
  runDir: string;
  /** Host uid and gid of the sandbox: never root, never another sandbox's. */
  uid: number;
  image: string;
  resources: ResourceLimits;
  /** Absent: the sandboxes of the owner have no limits together. */
  owner?: OwnerResources;
}

/** What all sandboxes of one owner may use together. 0: no limit. */
export interface OwnerResources {
  /** A plain file name, the same for all sandboxes of the owner. */
  group: string;
  /** Bytes. */
  memory_bytes: number;
  /** Microseconds of CPU in 100,000. */
  cpu_quota: number;
}

export interface Command {
  /** Script for `/bin/sh -c`. */
  command: string;
  stdin: string;
  env: Readonly<Record<string, string>>;
  /** Absolute, or relative to /workspace; empty: /workspace. Interpreted inside only. */
  workdir: string;
  timeoutMs: number;
  /** Aborted when the client disconnects: kills the command and all its processes. */
  signal: AbortSignal;
}

export type CommandEvent =
  | { kind: 'output'; stream: OutputStream; data: Buffer }
  /** Always the last event, after all output. exitCode is 128+N for signal N. */
  | { kind: 'exit'; exitCode: number; durationMs: number };

/**
 * A started command. Output is delivered as it is written, in order within a stream; if it is not read, the program
 * blocks (bounded memory). Leaving the loop early kills the command. Throws DEADLINE_EXCEEDED after a timeout (all
 * output so far is delivered first), CANCELLED after an abort of the signal, UNAVAILABLE if the sandbox ended.
 */
export type Execution = AsyncIterable<CommandEvent>;

export interface RunningSandbox {
  /** Resolves when the command was accepted; rejects with INVALID_ARGUMENT for a workdir that cannot be entered. */
  exec(command: Command): Promise<Execution>;
  /**
   * Kills all processes and releases all resources (cgroups, run directory). Never throws twice. Commands in progress
   * fail with UNAVAILABLE and `reason`, by default that the sandbox was stopped.
   */
  stop(reason?: string): Promise<void>;
  /** Resolves once, with the reason, if the sandbox ends without `stop`; never settles after `stop`. */
  readonly exited: Promise<string>;
}

export interface Runtime {
  /**
   * Resolves if this machine supports the runtime; rejects with a one-line ServiceError (FAILED_PRECONDITION,
   * UNAVAILABLE).
   */
  probe(): Promise<void>;
  /**
   * Starts a sandbox without commands. Rejects with a ServiceError if that fails, with nothing left behind. The caller stops
   * it.
   */
  launch(spec: SandboxSpec): Promise<RunningSandbox>;
  /**
   * Kills and removes everything that an earlier server on this state left: processes, cgroups, containers. Must
   * precede any launch.
   */
  reclaim(): Promise<void>;
  /** Releases resources shared by sandboxes, after all of them have ended. */
  close?(): Promise<void>;
}
