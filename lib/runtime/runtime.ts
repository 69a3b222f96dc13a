import type { DeniedHost, OutputStream, ResourceLimits } from '../contract/messages.ts';
import type { ServiceError } from '../errors.ts';
import type { SharedMappings, Turn } from '../linux/shared-mappings.ts';
import type { RootFileSystem } from './root-file-system.ts';

/** The parameters of one sandbox. Workspace and HOME are paths: a runtime does not know FUSE. */
export interface SandboxSpec {
  id: string;
  /** Host path shown at /workspace inside; its file system enforces the rules. */
  workspace: string;
  /** Host path shown as HOME. */
  home: string;
  /** Private host directory of this sandbox, for a runtime that needs one: created by `launch`, removed by `stop`. */
  runDir: string;
  /** Host uid and gid of the sandbox: never root, never another sandbox's. */
  uid: number;
  /** Of a container. */
  image: string;
  /** Of bwrap; absent: the host's system. */
  rootfs?: RootFileSystem;
  /** Both of bwrap without `rootfs`: see `SandboxView` there. */
  readOnlyPaths?: readonly string[];
  workspacePath?: string;
  resources: ResourceLimits;
  owner?: OwnerResources;
}

/** What all sandboxes of one owner may use together; absent or 0: no limit. */
export interface OwnerResources {
  /** A plain file name, the same for all sandboxes of the owner. */
  group: string;
  /** Bytes. */
  memory_bytes: number;
  /** Microseconds of CPU in 100,000. */
  cpu_quota: number;
}

/** The size of a terminal in characters. */
export interface TerminalSize {
  columns: number;
  rows: number;
}

export interface Command {
  /** Script for `shell -c`; empty with `argv`. */
  command: string;
  /** A name, which is searched in the sandbox's PATH, or an absolute path; empty, absent or `sh`: /bin/sh. */
  shell?: string;
  /** Both output streams are one, in the order of the writes: all events are STDOUT. */
  merge?: boolean;
  /** Instead of `command`: a program, which is searched in PATH, and its arguments. */
  argv?: readonly string[];
  /** Complete standard input; empty: /dev/null. */
  stdin: string | Uint8Array;
  /** Instead of `stdin`: standard input is a pipe that `RunningCommand.input` writes to. */
  openStdin?: boolean;
  /** The command gets a terminal of this size as its standard streams and controlling terminal. Implies `openStdin`. */
  terminal?: TerminalSize;
  env: Readonly<Record<string, string>>;
  /** Absolute, or relative to /workspace; empty: /workspace. Interpreted inside only. */
  workdir: string;
  /** The workdir is that of the sandbox, not of the request, so that it is FAILED_PRECONDITION if it cannot be entered. */
  ownWorkdir?: boolean;
  /** Milliseconds; undefined: no timeout. */
  timeoutMs: number | undefined;
  /** Aborted when the client disconnects: kills the command and all its processes. */
  signal: AbortSignal;
}

export type CommandEvent =
  /** The output of a terminal is all STDOUT. */
  | { kind: 'output'; stream: OutputStream; data: Buffer }
  /**
   * Always the last event, after all output. exitCode is 128+N for signal N. outOfMemory: the command failed, and the
   * memory limit killed a process of the sandbox while it ran. denied: set above the runtime, what the policy refused meanwhile.
   */
  | {
      kind: 'exit';
      exitCode: number;
      durationMs: number;
      outOfMemory: boolean;
      denied?: readonly DeniedHost[];
    };

/**
 * The events of a started command. Output is delivered as it is written, in order within a stream; if it is not read,
 * the program blocks (bounded memory). Leaving the loop early kills the command. Throws DEADLINE_EXCEEDED after a
 * timeout (all output so far is delivered first), CANCELLED after an abort of the signal, UNAVAILABLE if the sandbox
 * ended.
 */
export type Execution = AsyncIterable<CommandEvent>;

/** The open standard input of a command. */
export interface CommandInput {
  /**
   * Resolves when the data is in the pipe, or in a buffer of limited size. Calls must not overlap. Rejects with
   * FAILED_PRECONDITION if the command has closed its standard input or has ended, or after `end`.
   */
  write(data: Uint8Array): Promise<void>;
  /** Closes standard input after all data; idempotent. Of a terminal: sends ^D. */
  end(): void;
}

/** A started command and its processes. Events continue, and must be read, whatever is done here. */
export interface RunningCommand extends Execution {
  /**
   * Sends a signal to every process of the command, whatever session or parent it has, but not to the shell that
   * started it. Resolves when it was sent; SIGKILL: when all of them have ended, which is reported as exit 137. Nothing
   * after the command's end.
   */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Present with `openStdin` or `terminal`. */
  readonly input: CommandInput | undefined;
  /** Host pids of the command's processes, without the shell that started it. Empty after its end. */
  pids(): number[] | Promise<number[]>;
  /** Present with `terminal`: changes its size; the foreground program gets SIGWINCH. */
  resize?(size: TerminalSize): Promise<void>;
  /**
   * After the command's end: kills the processes that it left in the background; absent if there are none. Never rejects, and
   * does not keep the command in memory.
   */
  readonly endLeftBehind: (() => Promise<void>) | undefined;
}

/** A shell to start. */
export interface OpenShell {
  /** A plain name, which is searched in PATH, or an absolute path; empty: bash, or sh if there is none. */
  shell: string;
  env: Readonly<Record<string, string>>;
  /** Where it starts, as that of a command. */
  workdir: string;
  ownWorkdir: boolean;
  /** Aborted when the client disconnects before the shell is up. */
  signal: AbortSignal;
  /** It takes the place of such a shell: if it does not answer in time, it is slow, and not a program of another kind. */
  replaces?: boolean;
}

/** A command for a shell that keeps its state. Its standard input is /dev/null. */
export interface ShellCommand {
  command: string;
  /** See `Command`. */
  merge?: boolean;
  timeoutMs: number;
  signal: AbortSignal;
}

/** The events of a command in a shell. After a timeout, an abort or an early leave, the whole shell is killed. */
export interface ShellExecution extends Execution {
  /** Resolves after the last event, when the shell takes the next command or has ended. Never rejects. */
  readonly settled: Promise<void>;
}

/** How a shell ended. */
export interface ShellEnd {
  /** 128+N for signal N. */
  exitCode: number;
  /** A clause for a message. */
  reason: string;
  outOfMemory: boolean;
  /** The server killed it: after a timeout or an abort of its command, or by `close`. */
  killed: boolean;
  /** Set if the sandbox ended (SandboxEnded), or the server lost the shell. */
  error?: ServiceError;
}

/**
 * A shell that evaluates one command after the other itself, so that what a command changes in it is kept. Output of
 * background processes after the end of their command is discarded. All its processes end with it.
 */
export interface RunningShell {
  /** Absolute path of its program. */
  readonly path: string;
  /**
   * Gives it a command; the previous one must have settled. The events are those of `RunningSandbox.exec`. If the command
   * ends the shell, its exit code is the shell's, and `end` is set before the last event.
   */
  run(command: ShellCommand): Promise<ShellExecution>;
  /** undefined while it runs. */
  readonly end: ShellEnd | undefined;
  /** Resolves when it has ended, with all its processes. Never rejects. */
  readonly ended: Promise<ShellEnd>;
  /** Kills it, and resolves when nothing of it is left. Idempotent, never rejects. */
  close(): Promise<void>;
}

/** A TCP port on which a process of a sandbox listens. */
export interface ListeningPort {
  port: number;
  address: string;
  /** Inside the sandbox; 0: not known. */
  pid: number;
  /** Name of its program; empty: not known. */
  program: string;
}

/**
 * Whether programs of a sandbox can reach other machines. `tried`: they cannot, and one of them has sent something to an
 * address since the launch. The look-up of a name may leave no trace.
 */
export type NetworkState = 'present' | 'absent' | 'tried';

export interface RunningSandbox {
  /**
   * Resolves when the command was accepted; rejects with INVALID_ARGUMENT for a workdir that cannot be entered, with
   * FAILED_PRECONDITION if the sandbox has no such shell.
   */
  exec(command: Command): Promise<RunningCommand>;
  /**
   * Starts a shell, which counts as one command in progress. FAILED_PRECONDITION if the sandbox has no such shell,
   * UNAVAILABLE if one that is known to be a shell does not answer in time. The caller closes it.
   */
  openShell(request: OpenShell): Promise<RunningShell>;
  /** The TCP ports on which processes of the sandbox listen, by number. FAILED_PRECONDITION if the runtime cannot know them. */
  ports(): Promise<ListeningPort[]>;
  /**
   * The files of one file system that processes of the sandbox have mapped with MAP_SHARED. `device`: "major:minor". A program
   * can make a look at it last: each takes a turn. Rejects if the runtime cannot know them.
   */
  sharedMappings(device: string, turn: Turn): Promise<SharedMappings>;
  /** As `sharedMappings`: the inode numbers that they watch by inotify(7). */
  inotifyWatches(device: string, turn: Turn): Promise<ReadonlySet<number>>;
  /** Never rejects. */
  network(): Promise<NetworkState>;
  /**
   * Host pid of a process in its network namespace, which has nothing but `lo`. It lives as long as the sandbox: if this call
   * returns the same pid after the use of one, the use was of this sandbox. FAILED_PRECONDITION if the runtime gave it another
   * network, UNAVAILABLE if it has ended.
   */
  networkPid(): number;
  /**
   * For the commands that start from now on: the network is open, with the variables of its proxy and further ones, whose names
   * must be plain; undefined: it is not. `authorities`: what they trust, in PEM. Throws UNAVAILABLE if the sandbox has ended.
   */
  setNetwork(variables: Readonly<Record<string, string>> | undefined, authorities?: string): void;
  /**
   * Kills all processes and releases all resources (cgroups, run directory). Never throws twice. Commands in progress
   * fail with UNAVAILABLE and `reason`, by default that the sandbox was stopped. `grace`: they get SIGTERM and the grace before, which ends early when this is aborted.
   */
  stop(reason?: string, grace?: AbortSignal): Promise<void>;
  /** Resolves once, with the reason, if the sandbox ends without `stop`; never settles after `stop`. */
  readonly exited: Promise<string>;
}

/**
 * A sandbox that runs before it is known for what: its workspace and HOME are empty places, and no command has run in it. The
 * caller takes it once, or discards it.
 */
export interface ReadySandbox {
  /** False once it has ended, or if anything in it is not as it was when it was prepared. */
  isFit(): boolean;
  /**
   * Makes it the sandbox of `spec`, with exactly its limits. uid, workspace, HOME and file system are those it was prepared with.
   * Rejects if that is not possible: then it must be discarded.
   */
  take(spec: SandboxSpec): Promise<RunningSandbox>;
  /** Kills it and releases all its resources. Never throws. */
  discard(): Promise<void>;
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
   * Starts a sandbox ahead of its creation, isolated as by `launch`. `resources` are a guess. Absent: this runtime has none.
   */
  prepare?(spec: Pick<SandboxSpec, 'uid' | 'workspace' | 'home' | 'image' | 'resources'>): Promise<ReadySandbox>;
  /**
   * Kills and removes everything that an earlier server on this state left: processes, cgroups, containers. Must
   * precede any launch.
   */
  reclaim(): Promise<void>;
  /** Releases resources shared by sandboxes, after all of them have ended. */
  close?(): Promise<void>;
}
