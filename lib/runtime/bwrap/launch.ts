import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Descriptors } from '../../descriptors.ts';
import { SandboxEnded, ServiceError } from '../../errors.ts';
import { hostError } from '../../host-error.ts';
import type { SharedMappings, Turn } from '../../linux/shared-mappings.ts';
import { removeGroup } from '../cgroup/remove-group.ts';
import type { CgroupTree } from '../cgroup/tree.ts';
import { Executor } from '../executor/executor.ts';
import { ProcGroups } from '../executor/proc-groups.ts';
import { listeningPorts } from '../listening-ports.ts';
import { mappingsOf, watchesOf } from '../mappings-of.ts';
import { remove, removeDirectory } from '../remove.ts';
import type {
  Command,
  ListeningPort,
  NetworkState,
  OpenShell,
  OwnerResources,
  RunningCommand,
  RunningSandbox,
  RunningShell,
  SandboxSpec,
} from '../runtime.ts';
import { outOfMemoryLine } from '../sandbox-environment.ts';
import { SandboxLife } from '../sandbox-life.ts';
import { ShownLimits, type ShownPath } from '../shown/shown-limits.ts';
import type { TerminalLimit } from '../terminal-limit/terminal-limit.ts';
import type { Instance } from './instance.ts';
import { isEnding } from './is-ending.ts';
import type { LaunchSettings } from './launch-settings.ts';
import { BASE_PIDS, Launcher } from './launcher.ts';
import { cgroupPaths } from './shown-cgroups.ts';
import { startFailure } from './start-failure.ts';
import { withArguments } from './with-arguments.ts';

/** Milliseconds that `stop` waits for killed processes to exit; processes stuck in the kernel are left to `reclaim`. */
const STOP_MS = 2000;

/** One bwrap sandbox and its agent, from launch to stop. */
export class BwrapSandbox implements RunningSandbox {
  readonly #life = new SandboxLife();
  #id: string;
  readonly #owner: OwnerResources | undefined;
  readonly #tree: CgroupTree;
  readonly #launcher: Launcher;
  readonly #executor: Executor;
  readonly #agentDir: string;
  /** Beside the agent directory: not visible inside, and on a tmpfs, so that no disk delays it. */
  readonly #argumentsFile: string;
  readonly #descriptors: Descriptors;
  shown: ShownLimits | undefined;
  #init: number | undefined;
  /** Until its terminals are limited: commands wait for it, the launch does not. */
  #limiting: Promise<void> | undefined;
  #exited: Promise<void> = Promise.resolve();

  private constructor(
    spec: SandboxSpec,
    tree: CgroupTree,
    launcher: Launcher,
    agentDir: string,
    executor: Executor,
    descriptors: Descriptors,
  ) {
    this.#descriptors = descriptors;
    this.#id = spec.id;
    this.#owner = spec.owner;
    this.#tree = tree;
    this.#launcher = launcher;
    this.#agentDir = agentDir;
    this.#argumentsFile = `${agentDir}.args`;
    this.#executor = executor;
  }

  get exited(): Promise<string> {
    return this.#life.exited;
  }

  /**
   * Starts a sandbox and waits until it accepts commands. Cleans up if it fails. `spare`: a launcher in cgroups with
   * exactly these limits; this call takes ownership of it. `readyOnly`: its id is replaced by `assign`.
   */
  static async launch(
    spec: SandboxSpec & { readyOnly?: boolean },
    instance: Instance,
    tree: CgroupTree,
    settings: LaunchSettings,
    spare?: Launcher,
  ): Promise<BwrapSandbox> {
    // Random instead of the sandbox's id, because the name is visible in the sandbox's mount table.
    const agentDir = join(instance.dir, randomBytes(8).toString('hex'));
    let launcher = spare;
    let sandbox: BwrapSandbox | undefined;
    try {
      if (settings.root && spec.uid === 0) throw new ServiceError('INTERNAL', 'a sandbox never runs as root');
      tree.vacate(spec.id, spec.owner);
      launcher ??= new Launcher(tree.create(spec.id, spec.resources, spec.owner), settings.start, settings.descriptors);
      const { cgroup } = launcher;
      if (spare) cgroup?.expectMove(spare.pid);
      const groups = cgroup ?? new ProcGroups(() => sandbox?.init);
      const executor = await Executor.prepare({
        dir: agentDir,
        uid: settings.root ? spec.uid : undefined,
        fifos: instance.fifos,
        groups,
        isEnding: async () => sandbox !== undefined && isEnding(sandbox.#launcher, sandbox.init, groups),
        ...{ scratch: instance.scratch, paces: instance.paces, room: instance.room },
        ...{ stopGraceMs: settings.stopGraceMs ?? 0, descriptors: settings.descriptors },
        resetSignals: (spec.rootfs?.resetsSignals ?? true) ? settings.resetSignals : [],
        forks: spec.rootfs === undefined && instance.setsidForks,
        answers: true,
        sandboxId: spec.readyOnly ? '' : spec.id,
        hasNetwork: false,
        outOfMemory: outOfMemoryLine(spec.resources, spec.owner),
        onActive: () => sandbox?.shown?.refresh(),
        onBroken: (reason) => sandbox?.markFailed(reason),
      });
      sandbox = new BwrapSandbox(spec, tree, launcher, agentDir, executor, settings.descriptors);
      await sandbox.#start(spec, instance, settings);
      return sandbox;
    } catch (error) {
      if (sandbox) await sandbox.stop();
      else {
        await launcher?.discard();
        remove(agentDir);
      }
      throw hostError(error, 'the sandbox could not be started');
    }
  }

  /** Starts the shell for its first command, if there is none. Rejects if it could not be started. */
  startFirst(): Promise<void> {
    return this.#executor.startFirst();
  }

  /** Resolves when nothing of its start is left to do; rejects if it failed. */
  async settled(): Promise<void> {
    await Promise.all([this.#limiting, this.startFirst()]);
    if (this.#life.failureReason !== undefined) throw new Error(this.#life.failureReason);
  }

  /** Its processes that run no commands, by their host pids; undefined if that is not known, or it has ended. */
  basePids(): number[] | undefined {
    const { alive, cgroup } = this.#launcher;
    return alive && this.#life.failureReason === undefined ? cgroup?.basePids() : undefined;
  }

  /** For one with `readyOnly`, once: gives it the id and the limits. Throws; then it must be stopped. */
  assign({ id, resources }: Pick<SandboxSpec, 'id' | 'resources'>): void {
    this.#tree.vacate(id);
    this.#launcher.cgroup?.setLimits(resources);
    this.shown?.change(resources);
    this.#executor.assign(id, outOfMemoryLine(resources));
    this.#id = id;
  }

  async exec(command: Command): Promise<RunningCommand> {
    if (this.#limiting) await this.#limiting;
    return this.#executor.exec(command);
  }

  openShell(request: OpenShell): Promise<RunningShell> {
    return this.#executor.openShell(request, (command) => this.exec(command));
  }

  ports(): Promise<ListeningPort[]> {
    return this.#executor.ask(listeningPorts);
  }

  async sharedMappings(device: string, turn: Turn): Promise<SharedMappings> {
    return mappingsOf(this.#executor, device, turn, BASE_PIDS);
  }

  readonly inotifyWatches = (device: string, turn: Turn) => watchesOf(this.#executor, device, turn, BASE_PIDS);

  network(): Promise<NetworkState> {
    return this.#executor.network();
  }

  networkPid(): number {
    const { init } = this;
    if (init === undefined) throw new SandboxEnded('the sandbox has ended');
    return init;
  }

  setNetwork(variables: Readonly<Record<string, string>> | undefined, authorities?: string): void {
    this.#executor.setNetwork(variables, authorities);
  }

  stop(reason = 'the sandbox was stopped', grace?: AbortSignal): Promise<void> {
    return this.#life.stop(() => this.#end(reason, grace));
  }

  /** Kills the sandbox; `exited` resolves with the reason once its processes are gone. */
  markFailed(reason: string): void {
    this.#life.markFailed(reason);
    this.#kill();
  }

  /**
   * Host pid of the first process in the sandbox's pid namespace; undefined once bwrap, which reaps it, has exited.
   * Cached, because killing must work when no descriptor is free.
   */
  get init(): number | undefined {
    if (!this.#launcher.alive) return undefined;
    this.#init ??= this.#launcher.init();
    return this.#init;
  }

  async #start(spec: SandboxSpec, instance: Instance, settings: LaunchSettings): Promise<void> {
    const own = { agentDir: this.#agentDir, shown: this.#show(spec, instance) };
    await withArguments(spec, instance.view, own, settings, async (args, isOfAll) => {
      writeFileSync(this.#argumentsFile, args, { mode: 0o600 });
      const ready = this.#executor.ready();
      ready.catch(() => {});
      const launcher = this.#launcher;
      const ended = this.#watch(launcher.ended);
      launcher.launch({
        bwrapPath: settings.bwrapPath,
        uid: settings.root ? spec.uid : undefined,
        argumentsFile: this.#argumentsFile,
        seccompFile: instance.seccompFile,
        needs: isOfAll ? settings.needs?.(spec.workspace) : undefined,
      });
      try {
        await Promise.race([ready, ended.then((how) => Promise.reject(new Error(how)))]);
        await launcher.started;
        this.#init = launcher.init();
        if (settings.root && this.#init !== undefined) this.#limitTerminals(settings.terminals, this.#init);
      } catch (error) {
        if (error instanceof ServiceError && error.code === 'RESOURCE_EXHAUSTED') throw error;
        throw startFailure(launcher.said || (error as Error).message, error);
      } finally {
        launcher.closeOutput();
        remove(this.#argumentsFile);
      }
    });
  }

  #show(spec: SandboxSpec & { readyOnly?: boolean }, { machine, commands }: Instance): ShownPath[] {
    const { cgroup } = this.#launcher;
    if (cgroup === undefined) return [];
    this.shown = new ShownLimits(this.#agentDir, machine, spec, () => cgroup.counters);
    return [...cgroupPaths(cgroup.shown, commands), ...this.shown.links, ...this.shown.files];
  }

  #limitTerminals(terminals: TerminalLimit, init: number): void {
    this.#limiting = terminals.apply(init);
    this.#limiting.then(
      () => {
        this.#limiting = undefined;
      },
      (error: Error) => this.markFailed(error.message),
    );
  }

  /** Passes on the exit status of bwrap, whose exit implies that of every process of the sandbox. */
  #watch(ended: Promise<string>): Promise<string> {
    this.#exited = ended.then((how) => {
      const killed = (this.#launcher.cgroup?.oomKills() ?? 0) > 0;
      const memory = killed ? ', after its memory limit (memory_bytes) was reached' : '';
      this.#executor.close(this.#life.markExited(`the sandbox's main process ended: ${how}${memory}`));
    });
    return ended;
  }

  /**
   * Kills the sandbox's init, which ends the whole pid namespace; bwrap, its parent, reaps it and exits. Killing both
   * at once would leave a zombie to the init of the machine (or of the container).
   */
  #kill(): void {
    const { init } = this;
    try {
      if (init !== undefined) process.kill(init, 'SIGKILL');
      else this.#launcher.kill();
    } catch {
      // It has just exited.
    }
  }

  async #end(reason: string, grace: AbortSignal | undefined): Promise<void> {
    if (grace) await this.#executor.terminate(reason, grace);
    this.#kill();
    this.#executor.close(reason);
    const deadline = Date.now() + STOP_MS;
    await Promise.race([this.#exited, delay(STOP_MS, undefined, { ref: false })]);
    this.#launcher.kill();
    const { cgroup } = this.#launcher;
    if (cgroup && !(await removeGroup(cgroup, this.#descriptors, deadline))) this.#tree.leave(this.#id, cgroup);
    this.#tree.leaveGroup(this.#owner);
    remove(this.#argumentsFile);
    removeDirectory(this.#agentDir);
  }
}
