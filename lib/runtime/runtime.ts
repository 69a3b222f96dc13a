import type { OutputStream, ResourceLimits } from '../messages.ts';

/** What a launcher needs to bring one sandbox up. The workspace is one path string: a runtime knows no FUSE. */
export interface SandboxSpec {
  id: string;
  /** Host path shown at /workspace inside; the rules are enforced in that file system. */
  workspace: string;
  /** Host directory of this sandbox's own, for a runtime that needs one: made by `launch`, removed by `stop`. */
  runDir: string;
  /** Host uid and gid the sandbox runs as: never root, never another sandbox's. */
  uid: number;
  image: string;
  resources: ResourceLimits;
}

export interface Command {
  /** For `/bin/sh -c`. */
  command: string;
  stdin: string;
  env: Readonly<Record<string, string>>;
  /** Absolute, or relative to /workspace; empty: /workspace. Only ever a chdir inside. */
  workdir: string;
  timeoutMs: number;
  /** Aborted when the client goes away: ends the command and all it started. */
  signal: AbortSignal;
}

export type CommandEvent =
  | { kind: 'output'; stream: OutputStream; data: Buffer }
  /** Always the last, after all output. exitCode is 128+N for signal N. */
  | { kind: 'exit'; exitCode: number; durationMs: number };

/**
 * A started command. Output is delivered in order within a stream, as it is written; not reading holds the program
 * back (bounded memory). Leaving the loop early ends the command. Throws DEADLINE_EXCEEDED when the timeout killed it
 * (after the output so far was delivered), CANCELLED when the signal did, UNAVAILABLE when the sandbox died under it.
 */
export type Execution = AsyncIterable<CommandEvent>;

export interface RunningSandbox {
  /** Resolves when the command was accepted; rejects with INVALID_ARGUMENT for a workdir that cannot be entered. */
  exec(command: Command): Promise<Execution>;
  /**
   * Ends every process in it and gives back all it held (processes, cgroups, run directory). Never throws twice.
   * Commands under way end with UNAVAILABLE and `reason`, or that the sandbox was stopped.
   */
  stop(reason?: string): Promise<void>;
  /** Settles once, with the reason, when the sandbox ended without `stop`; never settles after `stop`. */
  readonly died: Promise<string>;
}

export interface Runtime {
  /** Resolves when this machine can run it; rejects with a one-line ServiceError (FAILED_PRECONDITION, UNAVAILABLE). */
  probe(): Promise<void>;
  launch(spec: SandboxSpec): Promise<RunningSandbox>;
  /** Ends and removes whatever an earlier server on this state left: processes, cgroups, containers. Before any launch. */
  reclaim(): Promise<void>;
  /** Gives back what its sandboxes shared, once they have all ended. */
  close?(): Promise<void>;
}
