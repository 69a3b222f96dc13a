import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Descriptors } from '../../descriptors.ts';
import { ServiceError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { unmountAgentFiles } from '../agent-mount.ts';
import { CgroupTree } from '../cgroup/tree.ts';
import { prepareSandbox } from '../prepared-sandbox.ts';
import type { RootFileSystem } from '../root-file-system.ts';
import type { ReadySandbox, RunningSandbox, Runtime, SandboxSpec } from '../runtime.ts';
import { TerminalLimit } from '../terminal-limit/terminal-limit.ts';
import { type NewerOption, optionsLacking } from './arguments.ts';
import { FirstRunners } from './first-runners.ts';
import { HostPaths } from './host-paths.ts';
import { imageMountPoint, mountImages, unmountImages } from './image-mount.ts';
import { inheritedFds } from './inherited-fds.ts';
import { type Instance, instanceDir, instanceName, openInstance } from './instance.ts';
import { BwrapSandbox } from './launch.ts';
import type { LaunchSettings } from './launch-settings.ts';
import { Launcher } from './launcher.ts';
import { neededPaths } from './needed-paths.ts';
import { checkHost, explainFailure } from './probe.ts';
import { ProcessStarter } from './process-starter.ts';
import { Spares } from './spares.ts';

export interface BwrapOptions {
  bwrapPath: string;
  /** The server's state directory. Its path identifies the instance, so that leftovers are found after a restart. */
  stateDir: string;
  /**
   * Directory of the workspaces, the mount point of their file system. Absent: sandboxes are started among all mounts of the host,
   * which takes longer.
   */
  workspacesDir?: string;
  /** Additional host paths shown read-only at the same path inside, for example a toolchain outside /usr. */
  readOnlyPaths?: readonly string[];
  /** Size of /tmp; absent: TMP_BYTES. */
  tmpBytes?: number;
  /** Host directory of images; absent: there are none. */
  imagesDir?: string;
  /** Niceness of sandboxes; undefined: the server's own. */
  niceness?: number | undefined;
  /** What sandboxes trust, in PEM; undefined: what the host does. */
  authorities?: string | undefined;
  /** The descriptor budget of the process; absent: one of this runtime's own. */
  descriptors?: Descriptors;
  /** Milliseconds between SIGTERM and the kill of what is stopped; absent: it is killed at once. */
  stopGraceMs?: number;
  /** Program of the spawner; see `ProcessStarter`. */
  spawner?: string;
  log: Log;
}

/**
 * Creates the bubblewrap runtime (https://github.com/containers/bubblewrap): namespaces, seccomp, cgroups, no network.
 * The caller must call `close` after the last sandbox has stopped.
 */
export function createBwrapRuntime(options: BwrapOptions): Runtime & { close(): Promise<void> } {
  return new BwrapRuntime(options);
}

/** Any uid that no user has: the test sandbox sees an empty directory and runs `true`. */
const PROBE_UID = 65_534;

class BwrapRuntime implements Runtime {
  readonly #options: BwrapOptions;
  readonly #root = process.getuid?.() === 0;
  readonly #dir: string;
  readonly #tree: CgroupTree;
  readonly #settings: LaunchSettings;
  readonly #spares: Spares;
  readonly #firstRunners = new FirstRunners();
  readonly #hostPaths: HostPaths;
  readonly #starter: ProcessStarter;
  #instance: Promise<Instance> | undefined;
  #lacking: NewerOption[] = [];
  #imagesMounted: Promise<void> | undefined;
  #needs: string[] | undefined;

  constructor(options: BwrapOptions) {
    this.#options = options;
    this.#dir = instanceDir(options.stateDir, this.#root);
    this.#tree = new CgroupTree(instanceName(options.stateDir));
    this.#hostPaths = new HostPaths(options.stateDir, this.#root);
    const descriptors = options.descriptors ?? new Descriptors();
    const inheritance = { closeFds: process.platform === 'linux' ? inheritedFds() : [], niceness: options.niceness };
    this.#starter = new ProcessStarter({ inheritance, program: options.spawner, log: options.log });
    const start = (entries: readonly string[]) => this.#starter.start(entries);
    this.#settings = {
      start,
      descriptors,
      rootOf: (rootfs) => this.#rootOf(rootfs),
      takePaths: (paths) => this.#hostPaths.take(paths),
      terminals: new TerminalLimit(options.log),
      stopGraceMs: options.stopGraceMs ?? 0,
      bwrapPath: options.bwrapPath,
      root: this.#root,
      needs: (workspace) => (workspace.startsWith(`${options.workspacesDir}/`) ? this.#needs : undefined),
      resetSignals: ['/usr/bin/env', '--default-signal=INT,QUIT'],
    };
    this.#spares = new Spares(
      (resources) => {
        const name = `spare-${randomBytes(8).toString('hex')}`;
        return new Launcher(this.#tree.create(name, resources), start, descriptors);
      },
      (err) => options.log.warn('spare launcher failed', { err }),
    );
  }

  /**
   * Fails closed: launches a sandbox and runs a command in it, so that problems show before the first tenant's request.
   */
  async probe(): Promise<void> {
    this.#lacking = optionsLacking(await checkHost(this.#options.bwrapPath, this.#options.log));
    if (this.#lacking.length > 0) {
      this.#options.log.warn('bubblewrap is too old for some of its isolation options', {
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
      this.#options.log.warn('the server is not root: sandboxes share its uid and are separated by namespaces only');
    }
    if (!this.#tree.available) {
      this.#options.log.warn('no writable cgroups: resource limits are refused, and killing a command is best effort');
    }
  }

  /** Also removes the remains of a dead server's probe. No sandbox of this instance may be running. */
  async reclaim(): Promise<void> {
    await this.#spares.close();
    this.#instance = undefined;
    this.#tree.open();
    await this.#tree.reclaim();
    await unmountAgentFiles(this.#dir);
    await this.#unmountImages();
    await this.#hostPaths.close();
  }

  async launch(spec: SandboxSpec): Promise<RunningSandbox> {
    const instance = await this.#open();
    this.#firstRunners.launching();
    try {
      const sandbox = await this.#launchOn(instance, spec);
      this.#firstRunners.launched(sandbox);
      return sandbox;
    } catch (error) {
      this.#firstRunners.failed();
      throw error;
    }
  }

  async #launchOn(instance: Instance, spec: SandboxSpec): Promise<BwrapSandbox> {
    // Spares are in cgroups of no owner.
    if (spec.owner !== undefined) return BwrapSandbox.launch(spec, instance, this.#tree, this.#settings);
    const spare = this.#spares.take(spec.resources);
    try {
      return await BwrapSandbox.launch(spec, instance, this.#tree, this.#settings, spare);
    } finally {
      this.#spares.launched();
    }
  }

  /** Without cgroups there are none: a change in one would not be noticed. */
  async prepare(spec: Pick<SandboxSpec, 'uid' | 'workspace' | 'home' | 'image' | 'resources'>): Promise<ReadySandbox> {
    if (!this.#tree.available)
      throw new ServiceError('FAILED_PRECONDITION', 'sandboxes are not prepared without cgroups');
    const instance = await this.#open();
    return prepareSandbox(spec, (whole) => BwrapSandbox.launch(whole, instance, this.#tree, this.#settings));
  }

  async close(): Promise<void> {
    this.#instance = undefined;
    try {
      // First, so that nothing waits for it.
      this.#starter.close();
      this.#firstRunners.close();
      await this.#spares.close();
      this.#settings.terminals.close();
      this.#tree.close();
      await unmountAgentFiles(this.#dir);
      await this.#unmountImages();
      await this.#hostPaths.close();
    } catch (err) {
      this.#options.log.warn('bwrap runtime could not be cleaned up completely', { err });
    }
  }

  async #rootOf(rootfs: RootFileSystem): Promise<RootFileSystem & { path: string }> {
    const { imagesDir, stateDir } = this.#options;
    if (imagesDir === undefined) throw new ServiceError('FAILED_PRECONDITION', 'this runtime has no images');
    const mountPoint = imageMountPoint(stateDir);
    if (this.#root) this.#imagesMounted ??= mountImages(imagesDir, mountPoint);
    await this.#imagesMounted?.catch((error) => {
      this.#imagesMounted = undefined;
      throw error;
    });
    return { ...rootfs, path: join(this.#root ? mountPoint : imagesDir, rootfs.name, 'root') };
  }

  async #unmountImages(): Promise<void> {
    this.#imagesMounted = undefined;
    if (this.#root) await unmountImages(imageMountPoint(this.#options.stateDir));
  }

  #open(): Promise<Instance> {
    if (!this.#instance) {
      this.#instance = this.#openInstance();
      this.#instance.catch(() => {
        this.#instance = undefined;
      });
    }
    return this.#instance;
  }

  async #openInstance(): Promise<Instance> {
    await this.#starter.open();
    const instance = await openInstance(this.#dir, this.#root, {
      readOnlyPaths: this.#options.readOnlyPaths ?? [],
      lacking: this.#lacking,
      tmpBytes: this.#options.tmpBytes,
      authorities: this.#options.authorities,
      unified: this.#tree.isUnified,
      makeFifos: (paths) => this.#starter.makeFifos(paths),
      growPipe: (fd) => this.#starter.growPipe(fd),
    });
    const { bwrapPath, workspacesDir } = this.#options;
    if (this.#root && workspacesDir !== undefined) {
      this.#needs = neededPaths(instance, bwrapPath, workspacesDir, this.#tree.shownDirectories);
    }
    return instance;
  }

  async #tryOut(): Promise<void> {
    const { dir } = await this.#open();
    const scratch = mkdtempSync(join(dir, 'probe-'));
    chmodSync(scratch, 0o711);
    const [workspace, home] = [join(scratch, 'workspace'), join(scratch, 'home')];
    for (const path of [workspace, home]) mkdirSync(path, { mode: 0o755 });
    try {
      const sandbox = await this.launch({
        id: 'probe',
        workspace,
        home,
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
