import { type Api, createApi } from './api.ts';
import {
  all,
  type ChangeSelection,
  type CommitOptions,
  chosen,
  commitChanges,
  exportChanges,
  isSelection,
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
  CreateSessionRequest,
  ExecRequest,
  FileChange,
  ListProcessesRequest,
  RefusedPath,
  Sandbox as SandboxInfo,
  UpdateSandboxRequest,
} from './contract/messages.ts';
import { type CreateOptions, createSandbox } from './create.ts';
import { asyncDispose, removed } from './dispose.ts';
import { FailedPreconditionError, InvalidArgumentError } from './errors.ts';
import { Files } from './files.ts';
import { type ForkOptions, forkSandbox } from './fork.ts';
import { callOptions, joined, requireObject } from './http/arguments.ts';
import type { CallOptions } from './http/call.ts';
import type { Pulled } from './local/changes.ts';
import type { PullOptions } from './local/pull.ts';
import { loadLocal } from './local.ts';
import { Network } from './network.ts';
import { Ports } from './ports.ts';
import { Process, type StartOptions } from './process.ts';
import { Rules } from './rules.ts';
import { Session } from './session.ts';
import { Unpulled } from './unpulled.ts';

/** Whose server is used; absent: that of PADDOCK_URL and PADDOCK_KEY. */
export interface Client {
  paddock?: { readonly api: Api } | undefined;
}

const clientOf = ({ paddock }: Client): Api => paddock?.api ?? createApi();

/** A sandbox: commands, files and changes. `await using` destroys it at the end of its block, unless its pulls left something. */
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
  readonly #ownsSandbox: boolean;
  #ownsCodebase: boolean;
  readonly #unpulled = new Unpulled();

  /** `owns`: what `await using` removes. */
  constructor(api: Api, info: SandboxInfo, owns: { sandbox?: boolean; codebase?: boolean } = {}) {
    this.api = api;
    this.id = info.id;
    this.info = info;
    this.#ownsSandbox = owns.sandbox ?? false;
    this.#ownsCodebase = owns.codebase ?? false;
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

  get #of(): { sandboxId: string } {
    return { sandboxId: this.id };
  }

  /** Creates a sandbox, which accepts commands at once, and a codebase for it if none is named. */
  static async create(options: CreateOptions & Client = {}): Promise<Sandbox> {
    const { paddock, ...rest } = joined<CreateOptions & Client>(options);
    const api = clientOf({ paddock });
    const { info, ownsCodebase } = await createSandbox(api, rest);
    return new Sandbox(api, info, { sandbox: true, codebase: ownsCodebase });
  }

  /** An existing sandbox. `await using` leaves it. */
  static async connect(id: string, options: Client & CallOptions = {}): Promise<Sandbox> {
    const { paddock, ...call } = joined<Client & CallOptions>(options);
    const api = clientOf({ paddock });
    return new Sandbox(api, await api.getSandbox({ sandboxId: id, as: undefined }, call));
  }

  /** When it was last read: `refresh` reads it again. */
  get status(): SandboxInfo['status'] {
    return this.info.status;
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
    return Process.start(this.api, this.id, command, options);
  }

  /** A process by its id. */
  async process(id: string, options?: CallOptions): Promise<Process> {
    return new Process(this.api, await this.api.getProcess({ ...this.#of, processId: id }, options));
  }

  /** The processes, those that have ended, too, the newest first. */
  async *processes(
    options: Omit<ListProcessesRequest, 'sandboxId'> & CallOptions = {},
  ): AsyncGenerator<Process, void, void> {
    for await (const info of this.api.listProcesses(this.#of, options)) yield new Process(this.api, info);
  }

  /** Starts a shell that keeps its state between commands. `await using` closes it. */
  async session(options: Omit<CreateSessionRequest, 'sandboxId'> & CallOptions = {}): Promise<Session> {
    return new Session(this.api, await this.api.createSession(this.#of, options));
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
    const call = () => commitChanges(this.api, this.id, options);
    const committed = await (options.dryRun ? call() : this.#sharingCodebase(call));
    if (!options.dryRun && !isSelection(options)) this.#unpulled.clear();
    return committed;
  }

  /**
   * Applies the changes to the local directory that the sandbox was made from. What was edited there meanwhile stays as
   * it is, and is a conflict. Nothing is committed.
   */
  async pull(directory: string, options: PullOptions = {}): Promise<Pulled> {
    requireObject(options);
    const { isLeft, pulling } = await loadLocal();
    const target = { sandboxId: this.id, codebaseId: this.info.codebaseId };
    const pull = await pulling(this.api, target, directory, options).catch((error) => {
      this.#unpulled.refused(error);
      throw error;
    });
    if (options.dryRun) return pull();
    try {
      const pulled = await pull();
      const { applied, unchanged, conflicts, skipped, failed } = pulled;
      const left = [...conflicts, ...[...failed, ...skipped.filter(isLeft)].map(({ path }) => path)];
      this.#unpulled.pulled(options, { left, brought: [...applied, ...unchanged] });
      return pulled;
    } catch (error) {
      this.#unpulled.failed(options, error);
      throw error;
    }
  }

  /** Drops changes, all or nothing. Returns at how many paths. */
  async discard(selection: ChangeSelection = {}): Promise<number> {
    const { discarded } = await this.api.discard(this.#of, chosen(selection));
    if (!isSelection(selection)) this.#unpulled.clear();
    return discarded;
  }

  /** The paths at which the rules refused what commands tried, since the sandbox runs. */
  refusals(options?: CallOptions): Promise<RefusedPath[]> {
    return all(this.api.listRefusals(this.#of, options));
  }

  /** Saves the present state under a name. */
  checkpoint(name: string, options?: CallOptions): Promise<Checkpoint> {
    return this.api.createCheckpoint({ ...this.#of, name }, options);
  }

  checkpoints(options?: CallOptions): Promise<Checkpoint[]> {
    return all(this.api.listCheckpoints(this.#of, options));
  }

  deleteCheckpoint(name: string, options?: CallOptions): Promise<void> {
    return this.api.deleteCheckpoint({ ...this.#of, name }, options);
  }

  /** Returns to a checkpoint, with the open files. */
  async rollback(checkpoint: string, options?: CallOptions): Promise<void> {
    this.info = await this.api.rollback({ ...this.#of, checkpoint }, options);
  }

  /** A new sandbox that starts from the present state, or from a checkpoint. */
  async fork(options: ForkOptions = {}): Promise<Sandbox> {
    return (await this.forks(1, options))[0]!;
  }

  /** As many new sandboxes, all or none. */
  async forks(count: number, options: ForkOptions = {}): Promise<Sandbox[]> {
    // A fork can commit, and be destroyed before this sandbox.
    const infos = await this.#sharingCodebase(() => forkSandbox(this.api, this.id, count, options));
    return infos.map((info) => new Sandbox(this.api, info, { sandbox: true }));
  }

  /** Reads the sandbox again. */
  async refresh(options?: CallOptions): Promise<SandboxInfo> {
    this.info = await this.api.getSandbox({ ...this.#of, as: undefined }, options);
    return this.info;
  }

  /** Changes labels, lifetime, environment and the like. */
  async update(changes: Omit<UpdateSandboxRequest, 'sandboxId'>, options?: CallOptions): Promise<void> {
    this.info = await this.api.updateSandbox(this.#of, joined(changes, options));
  }

  /** Ends every process and keeps the files. */
  async stop(options?: CallOptions): Promise<void> {
    this.info = await this.api.stopSandbox(this.#of, options);
  }

  /** Starts a sandbox that is stopped. */
  async resume(options?: CallOptions): Promise<void> {
    this.info = await this.api.startSandbox(this.#of, options);
  }

  /**
   * Removes the sandbox with its uncommitted changes, and its codebase if `create` made it and this object neither
   * committed to it nor forked the sandbox. Commits by others, for example another object or the CLI, are not seen: give
   * `keepCodebase` to `create` if there are any. `discard`: do not commit automatically. Does nothing if the sandbox is gone.
   */
  async destroy(options: { discard?: boolean } & CallOptions = {}): Promise<void> {
    this.#unpulled.clear();
    await removed(this.api.destroySandbox(this.#of, options));
    await this.#deleteCodebase(callOptions(options));
  }

  /** Others may use the codebase from this call on, even if its answer is lost; not if it is refused as it is. */
  async #sharingCodebase<T>(call: () => Promise<T>): Promise<T> {
    const owned = this.#ownsCodebase;
    this.#ownsCodebase = false;
    try {
      return await call();
    } catch (error) {
      if (error instanceof InvalidArgumentError) this.#ownsCodebase = owned;
      throw error;
    }
  }

  async #deleteCodebase(call: CallOptions): Promise<void> {
    if (!this.#ownsCodebase) return;
    try {
      await removed(this.api.deleteCodebase({ codebaseId: this.info.codebaseId }, call));
    } catch (error) {
      // Another sandbox uses it.
      if (!(error instanceof FailedPreconditionError)) throw error;
    }
    this.#ownsCodebase = false;
  }

  async [asyncDispose](): Promise<void> {
    if (!this.#ownsSandbox) return;
    const { told } = this.#unpulled;
    if (told !== undefined) {
      // biome-ignore lint/suspicious/noConsole: at the end of a block there is nobody else to tell.
      console.warn(`sandbox ${this.id} is kept: ${told}; pull them elsewhere, or destroy it`);
      return;
    }
    await this.destroy();
  }
}
