import { type Api, createApi } from './api.ts';
import {
  type ChangeSelection,
  type CommitOptions,
  chosen,
  commitChanges,
  exportChanges,
  listChanges,
  type ShownChanges,
} from './changes.ts';
import type { Command, RunOptions, StreamOptions } from './commands/options.ts';
import type { CommandResult } from './commands/result.ts';
import { type Runner, run, stream } from './commands/run.ts';
import type { CommandEvent } from './commands/stream.ts';
import type {
  Checkpoint,
  CommitResponse,
  ExecRequest,
  FileChange,
  PermissionExplanation,
  Process as ProcessInfo,
  RefusedPath,
  Sandbox as SandboxInfo,
  UpdateSandboxRequest,
} from './contract/messages.ts';
import { type CreateOptions, createSandbox } from './create.ts';
import { asyncDispose } from './dispose.ts';
import { type Life, lifeOf } from './duration.ts';
import { FailedPreconditionError, NotFoundError } from './errors.ts';
import { Files } from './files.ts';
import { type ForkOptions, forkSandbox } from './fork.ts';
import type { Pulled } from './local/changes.ts';
import type { PullOptions } from './local/pull.ts';
import { loadLocal } from './local.ts';
import { Network } from './network.ts';
import { all, PAGE_SIZE, pages } from './pages.ts';
import { Ports } from './ports.ts';
import { Process } from './process.ts';
import { Rules } from './rules.ts';
import { Session } from './session.ts';
import { type StartOptions, startProcess } from './start.ts';

interface Signal {
  signal?: AbortSignal | undefined;
}

/** Whose server is used; absent: that of PADDOCK_URL and PADDOCK_KEY. */
export interface Client {
  paddock?: { readonly api: Api } | undefined;
}

const clientOf = ({ paddock }: Client): Api => paddock?.api ?? createApi();

/** A sandbox: commands, files and changes. `await using` destroys it at the end of its block, unless its last pull left conflicts. */
export class Sandbox {
  /** Methods of all operations, with the fields of the contract. */
  readonly api: Api;
  readonly id: string;
  /** The sandbox when it was created or last read; `refresh` reads it again. */
  info: SandboxInfo;
  readonly files: Files;
  readonly rules: Rules;
  readonly ports: Ports;
  readonly network: Network;
  readonly #runner: Runner;
  #ownsCodebase: boolean;
  /** What the last pull did not bring, and is nowhere else. */
  #unpulled: readonly string[] = [];

  constructor(api: Api, info: SandboxInfo, ownsCodebase = false) {
    this.api = api;
    this.id = info.id;
    this.info = info;
    this.#ownsCodebase = ownsCodebase;
    this.files = new Files(api, info.id);
    this.rules = new Rules(api, info.id);
    this.ports = new Ports(api, info.id);
    this.network = new Network(api, info.id);
    const request = (fields: Record<string, unknown>) => ({ ...fields, sandboxId: info.id }) as ExecRequest;
    this.#runner = {
      exec: (fields, options) => api.exec(request(fields), options),
      execStream: (fields, options) => api.execStream(request(fields), options),
    };
  }

  /** Creates a sandbox, which accepts commands at once, and a codebase for it if none is named. */
  static async create(options: CreateOptions & Client = {}): Promise<Sandbox> {
    const { paddock, ...rest } = options;
    const api = clientOf({ paddock });
    const { info, ownsCodebase } = await createSandbox(api, rest);
    return new Sandbox(api, info, ownsCodebase);
  }

  /** An existing sandbox. */
  static async get(id: string, { signal, ...client }: Client & Signal = {}): Promise<Sandbox> {
    const api = clientOf(client);
    return new Sandbox(api, await api.getSandbox({ sandboxId: id }, { signal }));
  }

  /** Runs a command to its end. An exit code other than 0 is a result; `check` throws for it. */
  run(command: Command, options: RunOptions = {}): Promise<CommandResult> {
    return run(this.#runner, command, options);
  }

  /** The output of a command as it is written, and its end. Leaving the loop kills the command. */
  stream(command: Command, options: StreamOptions = {}): AsyncGenerator<CommandEvent, void, void> {
    return stream(this.#runner, command, options);
  }

  /** Starts a process, which goes on without this program, and can have input and a terminal. */
  start(command: Command, options: StartOptions = {}): Promise<Process> {
    return startProcess(this.api, this.id, command, options);
  }

  /** A process by its id. */
  process(id: string): Process {
    return new Process(this.api, this.id, id);
  }

  /** The processes, those that have ended, too. */
  processes(
    options: { labels?: Readonly<Record<string, string>>; running?: boolean } & Signal = {},
  ): Promise<ProcessInfo[]> {
    const { signal, ...filter } = options;
    return all(
      pages(
        (pageToken) =>
          this.api.listProcesses({ ...filter, sandboxId: this.id, pageToken, pageSize: PAGE_SIZE }, { signal }),
        ({ processes }) => processes,
      ),
    );
  }

  /** Starts a shell that keeps its state between commands. `await using` closes it. */
  async session(options: { shell?: string; env?: Readonly<Record<string, string>> } & Signal = {}): Promise<Session> {
    const { signal, ...fields } = options;
    const { id } = await this.api.createSession({ ...fields, sandboxId: this.id }, { signal });
    return new Session(this.api, id);
  }

  /** The paths at which the sandbox differs from its codebase. */
  changes(options: ShownChanges = {}): Promise<FileChange[]> {
    return listChanges(this.api, this.id, options);
  }

  /** The changes as a patch for `git apply`. */
  async patch(options: ShownChanges = {}): Promise<string> {
    return (await exportChanges(this.api, this.id, options, { format: 'patch', whole: true })).text();
  }

  /** Moves changes into the codebase, all or nothing. Throws ConflictError with the paths. */
  async commit(options: CommitOptions = {}): Promise<CommitResponse> {
    // Before the answer, which may be lost: what was committed is never deleted.
    if (!options.dryRun) this.#ownsCodebase = false;
    return commitChanges(this.api, this.id, options);
  }

  /**
   * Applies the changes to the local directory that the sandbox was made from. What was edited there meanwhile stays as
   * it is, and is a conflict. Nothing is committed.
   */
  async pull(directory: string, options: PullOptions = {}): Promise<Pulled> {
    const { pull } = await loadLocal();
    const target = { sandboxId: this.id, codebaseId: this.info.codebaseId };
    const pulled = await pull(this.api, target, directory, options);
    const left = [...pulled.failed, ...pulled.skipped.filter(({ option }) => option !== undefined)];
    if (!options.dryRun) this.#unpulled = [...pulled.conflicts, ...left.map(({ path }) => path)];
    return pulled;
  }

  /** Drops changes, all or nothing. Returns at how many paths. */
  async discard(selection: ChangeSelection = {}): Promise<number> {
    const { signal, ...choice } = chosen(selection);
    return (await this.api.discard({ ...choice, sandboxId: this.id }, { signal })).discarded;
  }

  /** What a command may do at a path, and which rule says so. */
  explain(path: string, options: { as?: 'agent' | 'owner' } & Signal = {}): Promise<PermissionExplanation> {
    return this.rules.explain(path, options);
  }

  /** The paths at which the rules refused what commands tried, since the sandbox runs. */
  async refusals(options: Signal = {}): Promise<readonly RefusedPath[]> {
    return (await this.api.listRefusals({ sandboxId: this.id }, options)).refusals;
  }

  /** Saves the present state under a name. */
  checkpoint(name: string, options: Signal & { idempotencyKey?: string } = {}): Promise<Checkpoint> {
    return this.api.createCheckpoint({ sandboxId: this.id, name }, options);
  }

  async checkpoints(options: Signal = {}): Promise<readonly Checkpoint[]> {
    return (await this.api.listCheckpoints({ sandboxId: this.id }, options)).checkpoints;
  }

  async deleteCheckpoint(name: string, options: Signal = {}): Promise<void> {
    await this.api.deleteCheckpoint({ sandboxId: this.id, name }, options);
  }

  /** Returns to a checkpoint, with the open files. */
  async rollback(checkpoint: string, options: Signal = {}): Promise<void> {
    this.info = await this.api.rollback({ sandboxId: this.id, checkpoint }, options);
  }

  /** A new sandbox that starts from the present state, or from a checkpoint. */
  async fork(options: ForkOptions = {}): Promise<Sandbox> {
    return (await this.forks(1, options))[0]!;
  }

  /** As many new sandboxes, all or none. */
  async forks(count: number, options: ForkOptions = {}): Promise<Sandbox[]> {
    // A fork can commit, and be destroyed before this sandbox.
    this.#ownsCodebase = false;
    const infos = await forkSandbox(this.api, this.id, count, options);
    return infos.map((info) => new Sandbox(this.api, info));
  }

  /** Reads the sandbox again. */
  async refresh(options: Signal = {}): Promise<SandboxInfo> {
    this.info = await this.api.getSandbox({ sandboxId: this.id }, options);
    return this.info;
  }

  /** Changes labels, lifetime, environment and the like. */
  async update(
    { expiresIn, idleTimeout, ...changes }: Omit<UpdateSandboxRequest, 'sandboxId' | keyof Life> & Life,
    options: Signal = {},
  ): Promise<void> {
    const request = { ...changes, ...lifeOf({ expiresIn, idleTimeout }), sandboxId: this.id };
    this.info = await this.api.updateSandbox(request, options);
  }

  /** Ends every process and keeps the files. */
  async stop(options: Signal = {}): Promise<void> {
    this.info = await this.api.stopSandbox({ sandboxId: this.id }, options);
  }

  /** Starts a sandbox that is stopped. */
  async resume(options: Signal = {}): Promise<void> {
    this.info = await this.api.startSandbox({ sandboxId: this.id }, options);
  }

  /**
   * Removes the sandbox with its uncommitted changes, and its codebase if `create` made it and this object neither
   * committed to it nor forked the sandbox. Commits by others, for example another object or the CLI, are not seen: give
   * `keepCodebase` to `create` if there are any. `discard`: do not commit automatically.
   */
  async destroy({ discard, signal }: { discard?: boolean } & Signal = {}): Promise<void> {
    this.#unpulled = [];
    try {
      await this.api.destroySandbox({ sandboxId: this.id, discard }, { signal });
    } catch (error) {
      // It expired, or was destroyed by another.
      if (error instanceof NotFoundError && error.resourceType === 'sandbox') await this.#deleteCodebase(signal);
      throw error;
    }
    await this.#deleteCodebase(signal);
  }

  async #deleteCodebase(signal: AbortSignal | undefined): Promise<void> {
    if (!this.#ownsCodebase) return;
    try {
      await this.api.deleteCodebase({ codebaseId: this.info.codebaseId }, { signal });
    } catch (error) {
      // Another sandbox uses it.
      if (!(error instanceof FailedPreconditionError || error instanceof NotFoundError)) throw error;
    }
    this.#ownsCodebase = false;
  }

  async [asyncDispose](): Promise<void> {
    const [path] = this.#unpulled;
    if (path !== undefined) {
      const left = `${this.#unpulled.length} of its changes could not be pulled, for example ${JSON.stringify(path)}`;
      // biome-ignore lint/suspicious/noConsole: at the end of a block there is nobody else to tell.
      console.warn(`sandbox ${this.id} is kept: ${left}; pull them elsewhere, or destroy it`);
      return;
    }
    try {
      await this.destroy();
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
  }
}
