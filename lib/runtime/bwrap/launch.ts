import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError } from '../../errors.ts';
import type { SandboxCgroup } from '../cgroup/sandbox-cgroup.ts';
import type { CgroupTree } from '../cgroup/tree.ts';
import { Executor } from '../executor/executor.ts';
import { ProcGroups } from '../executor/proc-groups.ts';
import type { Command, Execution, RunningSandbox, SandboxSpec } from '../runtime.ts';
import { bwrapArguments, encodeArguments } from './arguments.ts';
import type { Instance } from './instance.ts';
import { prelude, preludeShell } from './prelude.ts';

/** How long stop waits for killed processes to leave; one stuck in the kernel is left to `reclaim`. */
const STOP_MS = 2000;
const MAX_ERROR = 500;

export interface LaunchSettings {
  bwrapPath: string;
  /** The server is root: sandboxes get host uids of their own. */
  root: boolean;
  resetSignals: readonly string[];
  /** See LaunchPlan. */
  closeFds: readonly number[];
}

/** One bwrap sandbox with its agent, from launch to stop. */
export class BwrapSandbox implements RunningSandbox {
  readonly died: Promise<string>;
  #reportDeath!: (reason: string) => void;
  readonly #executor: Executor;
  readonly #cgroup: SandboxCgroup | undefined;
  readonly #agentDir: string;
  readonly #runDir: string;
  #child: ChildProcess | undefined;
  #init: number | undefined;
  #exited: Promise<void> = Promise.resolve();
  #brokenReason: string | undefined;
  #stopping: Promise<void> | undefined;

  private constructor(spec: SandboxSpec, agentDir: string, cgroup: SandboxCgroup | undefined, executor: Executor) {
    this.#runDir = spec.runDir;
    this.#agentDir = agentDir;
    this.#cgroup = cgroup;
    this.#executor = executor;
    this.died = new Promise((resolve) => {
      this.#reportDeath = resolve;
    });
  }

  /** Leaves nothing behind when it fails. */
  static async launch(
    spec: SandboxSpec,
    instance: Instance,
    tree: CgroupTree,
    settings: LaunchSettings,
  ): Promise<BwrapSandbox> {
    if (settings.root && spec.uid === 0) throw new ServiceError('INTERNAL', 'a sandbox never runs as root');
    const cgroup = tree.create(spec.id, spec.resources);
    // Not the sandbox's id: the name shows in its mount table.
    const agentDir = join(instance.dir, randomBytes(8).toString('hex'));
    let sandbox: BwrapSandbox | undefined;
    try {
      const executor = await Executor.prepare({
        dir: agentDir,
        uid: settings.root ? spec.uid : undefined,
        fifos: instance.fifos,
        groups: cgroup ?? new ProcGroups(() => sandbox?.init),
        scratch: instance.scratch,
        resetSignals: settings.resetSignals,
        outOfMemory: `out of memory: the sandbox's memory limit of ${spec.resources.memory_bytes} bytes (memory_bytes) was reached\n`,
        onBroken: (reason) => sandbox?.breakDown(reason),
      });
      sandbox = new BwrapSandbox(spec, agentDir, cgroup, executor);
      await sandbox.#start(spec, instance, settings);
      return sandbox;
    } catch (error) {
      if (sandbox) await sandbox.stop();
      else {
        cgroup?.remove();
        rmSync(agentDir, { recursive: true, force: true });
      }
      throw error;
    }
  }

  exec(command: Command): Promise<Execution> {
    return this.#executor.exec(command);
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#end('the sandbox was stopped');
    return this.#stopping;
  }

  /** Kills everything; `died` tells the reason once the processes are gone. */
  breakDown(reason: string): void {
    this.#brokenReason ??= reason;
    this.#kill();
  }

  /**
   * Host pid of the first process in the sandbox's pid namespace, while bwrap, which reaps it, has not ended. Read once:
   * killing must work when no descriptor is left.
   */
  get init(): number | undefined {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return undefined;
    this.#init ??= initOf(child);
    return this.#init;
  }

  async #start(spec: SandboxSpec, instance: Instance, settings: LaunchSettings): Promise<void> {
    rmSync(spec.runDir, { recursive: true, force: true });
    mkdirSync(spec.runDir, { recursive: true, mode: 0o700 });
    const argumentsFile = join(spec.runDir, 'bwrap-args');
    const args = encodeArguments(bwrapArguments(instance.view, spec.workspace, this.#agentDir));
    writeFileSync(argumentsFile, args, { mode: 0o600 });
    const script = prelude({
      bwrapPath: settings.bwrapPath,
      uid: settings.root ? spec.uid : undefined,
      cgroupEntries: this.#cgroup?.entries ?? [],
      argumentsFile,
      seccompFile: instance.seccompFile,
      closeFds: settings.closeFds,
    });
    const ready = this.#executor.ready();
    ready.catch(() => {});
    // A session of its own: a Ctrl-C at the server's terminal is the server's to handle. Never a cwd in a workspace.
    // Its stderr is no file: what descriptor 2 of the sandbox's init is can be read inside, and would be a host path.
    const child = spawn(preludeShell(settings.closeFds), ['-c', script], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child = child;
    const ended = this.#watch(child);
    let said = '';
    // Not there when the spawn itself failed.
    child.stderr?.on('data', (data: Buffer) => {
      said = (said + data).slice(0, MAX_ERROR);
    });
    try {
      await Promise.race([ready, ended.then((how) => Promise.reject(new Error(how)))]);
      this.#init = initOf(child);
    } catch (error) {
      const reason = said.trim().replace(/\s+/g, ' ') || (error as Error).message;
      throw new ServiceError('UNAVAILABLE', `the sandbox did not start: ${reason}`, [], { cause: error });
    } finally {
      child.stderr?.destroy();
    }
  }

  /** Resolves, with how it went, when bwrap is gone, and with it every process of the sandbox. */
  #watch(child: ChildProcess): Promise<string> {
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(`could not run the shell (${error.message})`));
      // Not 'exit': what it said on stderr has been read by now.
      child.once('close', (code, signal) => resolve(`bwrap ended with ${signal ?? `exit code ${code}`}`));
    });
    this.#exited = ended.then((how) => {
      const memory = (this.#cgroup?.oomKills() ?? 0) > 0 ? ', after its memory limit (memory_bytes) was reached' : '';
      const reason = this.#brokenReason ?? `the sandbox's main process ended: ${how}${memory}`;
      this.#executor.close(reason);
      if (!this.#stopping) this.#reportDeath(reason);
    });
    return ended;
  }

  /**
   * The sandbox's init takes the whole pid namespace with it, and bwrap, its parent, reaps it and ends. Killing both at
   * once would leave a zombie to whoever is the machine's (or the container's) init.
   */
  #kill(): void {
    const { init } = this;
    try {
      if (init !== undefined) process.kill(init, 'SIGKILL');
      else this.#child?.kill('SIGKILL');
    } catch {
      // It has just ended.
    }
  }

  async #end(reason: string): Promise<void> {
    this.#kill();
    this.#executor.close(reason);
    const deadline = Date.now() + STOP_MS;
    await Promise.race([this.#exited, delay(STOP_MS, undefined, { ref: false })]);
    this.#child?.kill('SIGKILL');
    try {
      for (let wait = 1; this.#cgroup && !this.#cgroup.remove() && Date.now() < deadline; wait *= 2) {
        this.#cgroup.kill();
        await delay(Math.min(wait, 50));
      }
      for (const dir of [this.#agentDir, this.#runDir]) rmSync(dir, { recursive: true, force: true });
    } catch {
      // Short of descriptors: what is left is empty of processes, and goes at the next launch or start.
    }
  }
}

/** bwrap's only child, the first process of the pid namespace; undefined while it has none. */
function initOf(child: ChildProcess): number | undefined {
  try {
    const [pid] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'latin1').split(' ');
    return Number(pid) || undefined;
  } catch {
    return undefined;
  }
}
