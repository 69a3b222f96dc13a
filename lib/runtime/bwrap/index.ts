import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Descriptors } from '../../descriptors.ts';
import { ServiceError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { unmountAgentFiles } from '../agent-mount.ts';
import { CgroupTree } from '../cgroup/tree.ts';
import type { RunningSandbox, Runtime, SandboxSpec } from '../runtime.ts';
import { type NewerOption, optionsLacking } from './arguments.ts';
import { inheritedFds } from './inherited-fds.ts';
import { type Instance, instanceDir, instanceName, openInstance } from './instance.ts';
import { BwrapSandbox, type LaunchSettings } from './launch.ts';
import { Launcher } from './launcher.ts';
import { checkHost, explainFailure } from './probe.ts';
import { Spares } from './spares.ts';

export interface BwrapOptions {
  bwrapPath: string;
  /** The server's own state directory: its path names the instance, so that leftovers are found after a restart. */
  stateDir: string;
  /** Further host paths shown read-only inside at the same place (a toolchain outside /usr). */
  readOnlyPaths?: readonly string[];
  /** That sandboxes get, where the server has another; undefined: the server's. */
  niceness?: number | undefined;
  /** The process's; absent: this runtime's own view of them. */
  descriptors?: Descriptors;
  log: Log;
}

/** Sandboxes made by bubblewrap (https://github.com/containers/bubblewrap): namespaces, seccomp, cgroups, no network. */
export function createBwrapRuntime(options: BwrapOptions): Runtime & { close(): Promise<void> } {
  return new BwrapRuntime(options);
}

/** Any uid of nobody's: the test sandbox sees an empty directory and runs `true`. */
const PROBE_UID = 65_534;

class BwrapRuntime implements Runtime {
  readonly #options: BwrapOptions;
  readonly #root = process.getuid?.() === 0;
  readonly #dir: string;
  readonly #tree: CgroupTree;
  readonly #settings: LaunchSettings;
  readonly #spares: Spares;
  #instance: Promise<Instance> | undefined;
  #lacking: NewerOption[] = [];

  constructor(options: BwrapOptions) {
    this.#options = options;
    this.#dir = instanceDir(options.stateDir, this.#root);
    this.#tree = new CgroupTree(instanceName(options.stateDir));
    const descriptors = options.descriptors ?? new Descriptors();
    this.#settings = {
      descriptors,
      bwrapPath: options.bwrapPath,
      root: this.#root,
      resetSignals: ['/usr/bin/env', '--default-signal=INT,QUIT'],
      inheritance: { closeFds: process.platform === 'linux' ? inheritedFds() : [], niceness: options.niceness },
    };
    this.#spares = new Spares(
      (resources) => {
        const name = `spare-${randomBytes(8).toString('hex')}`;
        return new Launcher(this.#tree.create(name, resources), this.#settings.inheritance, descriptors);
      },
      (err) => options.log.warn('a spare launcher failed', { err }),
    );
  }

  /** Fails closed: a sandbox is really launched and runs a command, so that nothing is found out by the first tenant. */
  async probe(): Promise<void> {
    this.#lacking = optionsLacking(await checkHost(this.#options.bwrapPath, this.#options.log));
    if (this.#lacking.length > 0) {
      this.#options.log.warn('this bubblewrap is old: isolation goes without some of its options', {
        options: this.#lacking,
      });
    }
    try {
      await this.reclaim();
      await this.#tryOut();
    } catch (error) {
      await this.close();
      throw explainFailure(error);
    }
    if (!this.#root) {
      this.#options.log.warn('the server is not root: sandboxes share its uid and are kept apart by namespaces only');
    }
    if (!this.#tree.available) {
      this.#options.log.warn('no writable cgroups: resource limits are refused, and ending a command is best effort');
    }
  }

  /** Also what a probe of an earlier, dead server left. Nothing of this instance may run. */
  async reclaim(): Promise<void> {
    await this.#spares.close();
    this.#instance = undefined;
    this.#tree.open();
    await this.#tree.reclaim();
    await unmountAgentFiles(this.#dir);
  }

  async launch(spec: SandboxSpec): Promise<RunningSandbox> {
    const instance = await this.#open();
    const spare = this.#spares.take(spec.resources);
    try {
      return await BwrapSandbox.launch(spec, instance, this.#tree, this.#settings, spare);
    } finally {
      this.#spares.launched();
    }
  }

  async close(): Promise<void> {
    this.#instance = undefined;
    try {
      await this.#spares.close();
      this.#tree.close();
      await unmountAgentFiles(this.#dir);
    } catch (err) {
      this.#options.log.warn('the bwrap runtime left something behind', { err });
    }
  }

  #open(): Promise<Instance> {
    if (!this.#instance) {
      this.#instance = openInstance(this.#dir, this.#root, {
        readOnlyPaths: this.#options.readOnlyPaths ?? [],
        lacking: this.#lacking,
      });
      this.#instance.catch(() => {
        this.#instance = undefined;
      });
    }
    return this.#instance;
  }

  async #tryOut(): Promise<void> {
    const { dir } = await this.#open();
    const scratch = mkdtempSync(join(dir, 'probe-'));
    chmodSync(scratch, 0o711);
    const workspace = join(scratch, 'workspace');
    mkdirSync(workspace, { mode: 0o755 });
    try {
      const sandbox = await this.launch({
        id: 'probe',
        workspace,
        runDir: join(scratch, 'run'),
        uid: PROBE_UID,
        image: '',
        resources: { memory_bytes: 0, cpu_quota: 0, cpu_shares: 0, pids_limit: 0 },
      });
      try {
        const request = { command: 'grep -q "^Seccomp:.2$" /proc/self/status', stdin: '', env: {}, workdir: '' };
        const { signal } = new AbortController();
        for await (const event of await sandbox.exec({ ...request, timeoutMs: 10_000, signal })) {
          if (event.kind === 'exit' && event.exitCode !== 0) {
            throw new ServiceError('FAILED_PRECONDITION', 'the bwrap runtime cannot work here: seccomp has no effect');
          }
        }
      } finally {
        await sandbox.stop();
      }
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  }
}
