// Size: the one place that constructs all parts of a server.
import { dirname, join } from 'node:path';
import { openKeyAccess } from './access/key-access.ts';
import { noKeys, openAccess } from './access/no-keys.ts';
import { CleanupStack } from './cleanup-stack.ts';
import { archiveThreads } from './codebases/archive/server-threads.ts';
import { type OpenedCodebases, openCodebases, type SandboxBases } from './codebases/open-codebases.ts';
import type { CodebaseThreads } from './codebases/options.ts';
import type { DockerEnvironment } from './config/load.ts';
import { previewDomainOf } from './config/preview-domain-of.ts';
import type { Config } from './config/schema.ts';
import { Descriptors } from './descriptors.ts';
import { SlowRemovals } from './host-tree/slow-removals.ts';
import type { ImageStore } from './images/image-store.ts';
import { takeLockOfDead } from './killed-server.ts';
import { callLimits, ownerLimits } from './limits/configured.ts';
import { ownerResources } from './limits/owner-resources.ts';
import { ReceivedBytes } from './limits/received-bytes.ts';
import type { OwnerLimitSource } from './limits/stored-limits.ts';
import type { Log } from './log.ts';
import { makeFolder } from './metadata/lock.ts';
import type { KeyRecord, Metadata } from './metadata/metadata.ts';
import { openMetadata } from './metadata/store.ts';
import { openInspection } from './network/inspection/open-inspection.ts';
import { createSocketMaker } from './network/namespace/socket-maker.ts';
import { Dialer } from './network/ports/dialer.ts';
import { openSecrets } from './network/secrets/open-secrets.ts';
import type { StoredSecrets } from './network/secrets/stored-secrets.ts';
import type { SandboxNetworks } from './network/worker/networks.ts';
import { openNetworks } from './network/worker/open-networks.ts';
import type { Networks } from './network-services.ts';
import { openImages } from './open-images.ts';
import type { Ports } from './port-services.ts';
import type { Processes } from './process-services.ts';
import { interruptedIn } from './retries/interrupted.ts';
import { KeptAnswers } from './retries/kept-answers.ts';
import { removeReady, runtimeFactories } from './runtime-factories.ts';
import { Runtimes } from './runtimes.ts';
import { RUNTIME_NAMES, settingsOf } from './sandbox-settings.ts';
import { SandboxContext } from './sandboxes/context.ts';
import { systemClock } from './sandboxes/host/clock.ts';
import { type Layout, leaveLayout, makeLayout, mountPoints } from './sandboxes/host/layout.ts';
import { OwnerDeltas } from './sandboxes/host/owner-deltas.ts';
import { UidSlots } from './sandboxes/host/uid-slots.ts';
import { createWorkspaceMount, type WorkspaceMount } from './sandboxes/host/workspace-mount.ts';
import { createNetworks } from './sandboxes/network/networks.ts';
import { createPorts } from './sandboxes/ports/opened-ports.ts';
import { createProcesses } from './sandboxes/processes/processes.ts';
import { ReadySandboxes } from './sandboxes/ready/ready-sandboxes.ts';
import { createSandboxes, type SandboxKeeper } from './sandboxes/sandboxes.ts';
import { createSessions } from './sandboxes/sessions/sessions.ts';
import type { LimitsOfOwners, Retries, Services } from './services.ts';
import type { Sessions } from './session-services.ts';
import { Shares } from './shares.ts';
import { textToolThreads } from './text-tools/server-threads.ts';
import type { TextTools } from './text-tools/text-tools.ts';
import type { ThreadEntry } from './threads/thread-entry.ts';
import type { SharedThreads } from './threads/thread-pool.ts';
import { abandonMount, clearStaleMount, mountWorkspaces, probeFuse } from './workspaces/index.ts';

export interface Composition {
  services: Services;
  /** Maximum number of connections per listener. */
  maxConnections: Descriptors['maxConnections'];
  /** Restarts the sandboxes that were RUNNING; commands in them wait until then. Never rejects. */
  resume(): Promise<void>;
  /** Ends commands, sandboxes and mounts, and persists all acknowledged changes. Never rejects: failures are logged. */
  close(): Promise<void>;
  /** For an exit that cannot wait for `close`: force-unmounts, which also releases the threads that serve the mount. */
  abandon(): void;
}

export interface Environment {
  /** What worker threads run. */
  entry: ThreadEntry;
  dockerEnvironment: DockerEnvironment;
  /** Niceness of sandbox processes; undefined: the server's own. */
  niceness?: number | undefined;
  /** An admin key that is not stored. */
  adminKey?: KeyRecord | undefined;
  log: Log;
}

/**
 * Builds the services on the state that `config` names. The order is that of recovery: locks before any read; metadata
 * before any removal; the mounts and processes of a dead server are removed before new ones are made. A failure is an
 * error of one line, and everything done before it is undone. The caller must call `close` (or `abandon`).
 */
export async function compose(config: Config, environment: Environment): Promise<Composition> {
  const { log } = environment;
  const cleanup = new CleanupStack((step, err) => log.error('shutdown step failed', { step, err }));
  try {
    return await build(config, environment, cleanup);
  } catch (error) {
    await cleanup.unwind();
    throw error;
  }
}

async function build(config: Config, environment: Environment, cleanup: CleanupStack): Promise<Composition> {
  const [{ log }, { storage }] = [environment, config];
  await lockState(storage, cleanup, log);
  const metadata = await openMetadata(storage.dbPath, log);
  cleanup.add('metadata', () => metadata.close());
  const owners = ownerLimits(config, metadata);
  // Without keys nobody is told apart.
  const ownerDeltas = config.auth.mode === 'off' ? undefined : new OwnerDeltas(owners);
  const retries = await KeptAnswers.open({ path: `${storage.dbPath}.answers`, log });
  cleanup.add('answers', () => retries.close());
  const platform = await openPlatform(config, environment, cleanup);
  const codebases = await openCodebases({
    path: storage.codebasePath,
    format: storage.codebaseFormat,
    records: metadata.codebases,
    limits: { maxBytes: storage.maxCodebaseBytes, maxFiles: storage.maxCodebaseFiles },
    reserve: storage.reserveBytes,
    owners,
    transfers: platform.descriptors.transfers,
    archives: platform.archives,
    entry: environment.entry,
    log,
  });
  cleanup.add('codebases', () => codebases.close());
  const images = await openImages(config, platform, log);
  const dialer = new Dialer(createSocketMaker);
  const secrets = openSecrets(config, metadata, (secret) => sandboxes.secretChanged(secret));
  const { sandboxes, processes, sessions, networks, ports } = openSandboxes(
    config,
    metadata,
    { owners, ownerDeltas, dialer },
    platform,
    { bases: codebases.bases, images, secrets },
    log,
  );
  images.connect((id) => sandboxes.usersOfImage(id));
  cleanup.add('sandboxes', () => sandboxes.close());
  cleanup.add('ports', () => dialer.close());
  connect(sandboxes, codebases, platform.mount, retries);

  const resume = await sandboxes.recover();
  // Needs the sandboxes of the commits, and must precede the start of any sandbox.
  await codebases.finishCommits();
  await retries.recover(interruptedIn(metadata));
  return {
    services: {
      sandboxes,
      processes,
      sessions,
      networks,
      ports,
      codebases: codebases.service,
      images,
      owners: ownerDeltas === undefined ? owners : watchedLimits(owners, ownerDeltas),
      retries,
      received: new ReceivedBytes(),
      secrets,
      textTools: platform.textTools,
      ...accessOf(config, metadata, { owners, ownerOfGone: sandboxes.ownerOfGone, sessions }, environment),
      beginCall: sandboxes.beginCall,
      timeoutAdvice: sandboxes.timeoutAdvice,
      limits: execLimits(config),
    },
    maxConnections: platform.descriptors.maxConnections,
    resume: async () => {
      await resume();
      codebases.goOn();
    },
    close: () => cleanup.unwind(),
    abandon: () => abandonMount(platform.layout.fs),
  };
}

/** Directories, runtimes and the workspace file system, which sandboxes use. */
interface Platform {
  layout: Layout;
  descriptors: Descriptors;
  runtimes: Runtimes;
  mount: WorkspaceMount;
  archives: CodebaseThreads;
  textTools: SharedThreads<TextTools>;
  diffs: SharedThreads<TextTools>;
  sandboxNetworks: SandboxNetworks | undefined;
  /** What sandboxes whose connections are looked into trust, in PEM. */
  authorities: string | undefined;
}

/** Rejects when the configured runtime or FUSE does not work on this machine. */
async function openPlatform(config: Config, environment: Environment, cleanup: CleanupStack): Promise<Platform> {
  const { entry, niceness, log } = environment;
  const { mountPath } = config.storage;
  const layout = makeLayout(mountPath);
  cleanup.add('layout', () => leaveLayout(layout));
  for (const path of mountPoints(mountPath)) await clearStaleMount(path);
  const descriptors = new Descriptors();
  cleanup.add('descriptors', () => descriptors.close());
  const inspection = await openInspection(config, log);
  const authorities = inspection?.authorities;
  const runtimes = new Runtimes(
    runtimeFactories(config, { ...environment, descriptors, authorities, workspacesDir: layout.fs }),
  );
  cleanup.add('runtimes', () => runtimes.close());
  const mount = createWorkspaceMount({
    mount: async (observer) => {
      await probeFuse();
      await clearStaleMount(layout.fs);
      return mountWorkspaces({ mountPoint: layout.fs, entry, niceness, log, ...observer });
    },
    log,
  });
  cleanup.add('workspaces', () => mount.close());
  // Logged at the start, because the file system may be mounted much later, at the first create.
  if (dirname(layout.fs) !== mountPath) {
    log.info('a parent of storage.mount_path is not accessible to other users; workspaces are mounted elsewhere', {
      path: layout.fs,
    });
  }
  await runtimes.get(RUNTIME_NAMES[config.runtime.type]);
  await removeReady(config, runtimes, log);
  if (config.runtime.type !== 'mock') await mount.ready();
  const sandboxNetworks = openNetworks(config, {
    entry,
    log,
    descriptors: descriptors.network,
    inspection: inspection?.options,
  });
  if (sandboxNetworks) cleanup.add('networks', () => sandboxNetworks.end());
  const archives = archiveThreads(entry, cleanup);
  const threads = textToolThreads(entry, cleanup);
  return { layout, descriptors, runtimes, mount, archives, ...threads, sandboxNetworks, authorities };
}

function openSandboxes(
  config: Config,
  metadata: Metadata,
  { owners, ownerDeltas, dialer }: { owners: OwnerLimitSource; ownerDeltas: OwnerDeltas | undefined; dialer: Dialer },
  { layout, descriptors, runtimes, mount, archives, diffs, sandboxNetworks, authorities }: Platform,
  { bases, images, secrets }: { bases: SandboxBases; images: ImageStore; secrets: StoredSecrets },
  log: Log,
): { sandboxes: SandboxKeeper; processes: Processes; sessions: Sessions; networks: Networks; ports: Ports } {
  const { maxDeltaBytes, maxDeltaFiles, maxIndexBytes } = config.sandbox;
  const removals = new SlowRemovals(log);
  const uids = new UidSlots(config.runtime.uidRange);
  const context = new SandboxContext({
    metadata,
    platform: {
      layout,
      mount,
      runtime: (name) => runtimes.get(name),
      rootOf: (image) => images.rootOf(image),
      descriptors,
      graces: new AbortController(),
      basePath: (id) => bases.filesPath(id),
      apply: (id, plan) => bases.apply(id, plan),
      finishCommit: (id) => bases.finishCommit(id),
      unzstd: archives.unzstd,
      diffs,
      removeTree: (path) => removals.remove(path),
      ownerResources: (id) => ownerResources(owners, id),
      ownerDeltas,
      networks: sandboxNetworks,
      authorities,
      secrets,
      maxDeltaBytes,
      reserve: config.storage.reserveBytes,
      maxDeltaFiles,
      maxIndexBytes,
      log,
    },
    settings: settingsOf(config, owners),
    uids,
    ready: readySandboxes(config, { mount, runtimes, uids }, log),
    clock: systemClock,
    log,
  });
  return {
    sandboxes: createSandboxes(context),
    processes: createProcesses(context),
    sessions: createSessions(context),
    networks: createNetworks(context),
    ports: createPorts(context, dialer, previewDomainOf(config)),
  };
}

function readySandboxes(
  { runtime }: Config,
  { mount, runtimes, uids }: Pick<Platform, 'mount' | 'runtimes'> & { uids: UidSlots },
  log: Log,
): ReadySandboxes | undefined {
  if (runtime.ready === 0) return undefined;
  const now = () => performance.now();
  return new ReadySandboxes({
    mount,
    runtime: (name) => runtimes.get(name),
    uids,
    most: runtime.ready,
    log,
    now,
  });
}

/** Limits that are in force for writes, too, when `set` resolves. */
function watchedLimits(owners: LimitsOfOwners, deltas: OwnerDeltas): LimitsOfOwners {
  return {
    get: (ownerId) => owners.get(ownerId),
    set: async (ownerId, limits) => {
      const settings = await owners.set(ownerId, limits);
      deltas.limitChanged(ownerId);
      return settings;
    },
  };
}

/**
 * Lets codebases and the workspace file system call sandboxes. Subscribed only after construction: a callback passed to
 * a constructor could run while a later constructor still waits.
 */
function connect(sandboxes: SandboxKeeper, codebases: OpenedCodebases, mount: WorkspaceMount, retries: Retries): void {
  mount.subscribe({
    lost: (reason, back) => sandboxes.workspacesLost(reason, back),
    unreadable: (id, reason) => sandboxes.workspaceUnreadable(id, reason),
    mapped: (id, device) => sandboxes.mappedFiles(id, device),
    watched: (id, device) => sandboxes.watchedFiles(id, device),
  });
  codebases.connect({
    usedBy: (id) => sandboxes.usersOf(id),
    watcher: {
      baseChanging: async (id, paths, change) => {
        if (!change.othersPrepared) await sandboxes.revertUnchanged(id, paths, change);
        sandboxes.unpreserved(id, await mount.baseChanging(id, paths, change.commit, change.removed));
      },
      baseChanged: (id, paths) => {
        sandboxes.codebaseChanged(id);
        return mount.baseChanged(id, paths);
      },
      baseRemoving: (id, paths) => sandboxes.preserveRemoved(id, paths),
    },
    rebase: (commit, stage, resumed) => sandboxes.rebase(commit, stage, resumed),
    certain: (intent, answer) => retries.record(intent, answer),
  });
}

function accessOf(
  { auth, server: { tls }, storage, limits }: Config,
  metadata: Metadata,
  {
    owners,
    ownerOfGone,
    sessions,
  }: {
    owners: OwnerLimitSource;
    ownerOfGone: SandboxKeeper['ownerOfGone'];
    sessions: Pick<Sessions, 'placeOf'>;
  },
  { adminKey, log }: Environment,
) {
  if (auth.mode === 'off') return { access: openAccess, keys: noKeys };
  const binding = tls.bindOwners ? { adminNames: tls.adminNames } : undefined;
  const perKey = callLimits(limits.perKey);
  const keys = { adminKey, binding, ownerOfGone, sessionPlace: sessions.placeOf, perKey, limits: owners };
  return openKeyAccess({ metadata, dbPath: storage.dbPath, ...keys, log });
}

function execLimits({ limits: { execOutputBytes, execMemoryBytes } }: Config): Services['limits'] & object {
  if (execMemoryBytes === 0) return { execOutputBytes };
  return { execOutputBytes, execMemory: new Shares<string>(execMemoryBytes) };
}

/**
 * Locks each part of the state separately, so that two configurations cannot share a part. Takes over the lock of a
 * killed server that cannot exit.
 */
async function lockState(
  { dbPath, mountPath, codebasePath }: Config['storage'],
  cleanup: CleanupStack,
  log: Log,
): Promise<void> {
  makeFolder(dirname(dbPath), 'storage.db_path', 0o711);
  makeFolder(mountPath, 'storage.mount_path', 0o711);
  makeFolder(codebasePath, 'storage.codebase_path', 0o700);
  for (const path of [`${dbPath}.lock`, join(mountPath, '.lock'), join(codebasePath, '.lock')]) {
    cleanup.add('lock', await takeLockOfDead(path, mountPoints(mountPath), log));
  }
}
