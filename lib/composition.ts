import { dirname, join } from 'node:path';
import { StoredCodebases } from './codebases/codebases.ts';
import type { DockerEnvironment } from './config/load.ts';
import type { Config } from './config/schema.ts';
import { Descriptors } from './descriptors.ts';
import { removeTree } from './host-tree/remove-tree.ts';
import { takeLockOfDead } from './killed-server.ts';
import type { Log } from './log.ts';
import type { Runtime as RuntimeName } from './messages.ts';
import { makeFolder } from './metadata/lock.ts';
import { openMetadata } from './metadata/store.ts';
import { runtimeFactories } from './runtime-factories.ts';
import { Runtimes } from './runtimes.ts';
import { abandonMount } from './sandboxes/abandon-mount.ts';
import { systemClock } from './sandboxes/clock.ts';
import { SandboxContext, type Settings } from './sandboxes/context.ts';
import { leaveLayout, makeLayout, mountPoints } from './sandboxes/layout.ts';
import { createSandboxes, type SandboxKeeper } from './sandboxes/sandboxes.ts';
import { UidSlots } from './sandboxes/uid-slots.ts';
import { WorkspaceMount } from './sandboxes/workspace-mount.ts';
import type { Services } from './services.ts';
import { Shares } from './shares.ts';
import { UndoStack } from './undo-stack.ts';
import { clearStaleMount, mountWorkspaces, probeFuse } from './workspaces/index.ts';

export interface Composition {
  services: Services;
  /** Of one listener. */
  maxConnections: number;
  /** Brings up the sandboxes that were RUNNING; commands on them wait for it. Never rejects. */
  resume(): Promise<void>;
  /** Ends commands, sandboxes and mounts; what is acknowledged is stored. Never rejects: what goes wrong is logged. */
  close(): Promise<void>;
  /** Where `close` cannot be waited for: takes the mount away by force, which also frees the threads that serve it. */
  abandon(): void;
}

export interface Surroundings {
  /** The module of the worker threads. */
  entry: URL;
  dockerEnvironment: DockerEnvironment;
  /** Of sandboxes; undefined: this process's own. */
  niceness?: number | undefined;
  log: Log;
}

export const RUNTIME_NAMES = {
  bwrap: 'RUNTIME_BWRAP',
  docker: 'RUNTIME_DOCKER',
  mock: 'RUNTIME_MOCK',
} as const satisfies Record<Config['runtime']['type'], RuntimeName>;

/**
 * The real services on the state that `config` names. The order is that of recovery: the locks before anything is
 * read, the metadata before anything is removed, what a dead server left (mounts, processes) gone before anything is
 * put up anew. A failure is an error of one line, and leaves nothing.
 */
export async function compose(config: Config, surroundings: Surroundings): Promise<Composition> {
  const { log } = surroundings;
  const ends = new UndoStack((what, err) => log.error('could not be ended cleanly', { what, err }));
  try {
    return await build(config, surroundings, ends);
  } catch (error) {
    await ends.unwind();
    throw error;
  }
}

async function build(config: Config, surroundings: Surroundings, ends: UndoStack): Promise<Composition> {
  const { entry, log } = surroundings;
  const { storage, sandbox } = config;
  await lockState(storage, ends, log);
  const metadata = await openMetadata(storage.dbPath, log);
  ends.add('metadata', () => metadata.close());

  const layout = makeLayout(storage.mountPath);
  ends.add('layout', () => leaveLayout(layout));
  for (const path of mountPoints(storage.mountPath)) await clearStaleMount(path);
  const descriptors = new Descriptors();
  ends.add('descriptors', () => descriptors.close());
  const runtimes = new Runtimes(runtimeFactories(config, { ...surroundings, descriptors }));
  ends.add('runtimes', () => runtimes.close());
  const mount = new WorkspaceMount({
    mount: () => mountAnew(layout.fs, entry, log, (id, reason) => sandboxes.workspaceUnreadable(id, reason)),
    lost: (reason, back) => sandboxes.workspacesLost(reason, back),
    log,
  });
  ends.add('workspaces', () => mount.close());
  // Told here once; sandboxes need it at their creation, which can be long after.
  if (dirname(layout.fs) !== storage.mountPath) {
    log.info('a folder above storage.mount_path is closed to other users; workspaces are mounted elsewhere', {
      path: layout.fs,
    });
  }
  await runtimes.get(RUNTIME_NAMES[config.runtime.type]);
  if (config.runtime.type !== 'mock') await mount.ready();

  const codebases = await StoredCodebases.open({
    path: storage.codebasePath,
    records: metadata.codebases,
    usedBy: (id) => sandboxes.usersOf(id),
    watcher: {
      baseChanging: (id, paths) => mount.baseChanging(id, paths),
      baseChanged: (id, paths) => mount.baseChanged(id, paths),
      baseRemoving: (id, paths) => sandboxes.keepRemoved(id, paths),
    },
    rebase: (commit, stage, resumed) => sandboxes.rebase(commit, stage, resumed),
    limits: { maxBytes: storage.maxCodebaseBytes, maxFiles: storage.maxCodebaseFiles },
    log,
  });
  const sandboxes: SandboxKeeper = createSandboxes(
    new SandboxContext({
      metadata,
      platform: {
        layout,
        mount,
        runtime: (name) => runtimes.get(name),
        descriptors,
        basePath: (id) => codebases.filesPath(id),
        apply: (id, plan) => codebases.apply(id, plan),
        finishCommit: (id) => codebases.finishCommit(id),
        removeTree,
        maxDeltaBytes: sandbox.maxDeltaBytes,
        maxDeltaFiles: sandbox.maxDeltaFiles,
        maxIndexBytes: sandbox.maxIndexBytes,
        log,
      },
      settings: settingsOf(config),
      uids: new UidSlots(config.runtime.uidRange),
      clock: systemClock,
      log,
    }),
  );
  ends.add('sandboxes', () => sandboxes.close());
  const resume = await sandboxes.recover();
  const { execOutputBytes, execMemoryBytes } = config.limits;
  const execMemory = execMemoryBytes === 0 ? undefined : new Shares<string>(execMemoryBytes);
  const limits = { execOutputBytes, ...(execMemory && { execMemory }) };
  // Needs the sandboxes they come from, and comes before any of them is brought up.
  await codebases.finishCommits();
  return {
    services: { sandboxes, codebases, limits },
    maxConnections: descriptors.maxConnections,
    resume,
    close: () => ends.unwind(),
    abandon: () => abandonMount(layout.fs),
  };
}

/**
 * One server on each part of the state, so that two configurations cannot share a part either; one that was killed and
 * could not end is none.
 */
async function lockState(
  { dbPath, mountPath, codebasePath }: Config['storage'],
  ends: UndoStack,
  log: Log,
): Promise<void> {
  makeFolder(dirname(dbPath), 'storage.db_path', 0o711);
  makeFolder(mountPath, 'storage.mount_path', 0o711);
  makeFolder(codebasePath, 'storage.codebase_path', 0o700);
  for (const path of [`${dbPath}.lock`, join(mountPath, '.lock'), join(codebasePath, '.lock')]) {
    ends.add('lock', await takeLockOfDead(path, mountPoints(mountPath), log));
  }
}

async function mountAnew(mountPoint: string, entry: URL, log: Log, unreadable: (id: string, reason: string) => void) {
  await probeFuse();
  await clearStaleMount(mountPoint);
  return mountWorkspaces({ mountPoint, entry, log, unreadable });
}

function settingsOf({ runtime, sandbox }: Config): Settings {
  const { memoryBytes, cpuQuota, cpuShares, pidsLimit } = sandbox.defaultResources;
  return {
    runtime: RUNTIME_NAMES[runtime.type],
    defaultImage: runtime.docker.defaultImage,
    defaultExpiration: sandbox.defaultExpiration,
    defaultTimeout: runtime.defaultTimeout,
    maxTimeout: runtime.maxTimeout,
    maxPerUser: sandbox.maxPerUser,
    defaultResources: {
      memory_bytes: memoryBytes,
      cpu_quota: cpuQuota,
      cpu_shares: cpuShares,
      pids_limit: pidsLimit,
    },
  };
}
