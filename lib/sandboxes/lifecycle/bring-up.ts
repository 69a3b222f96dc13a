import { rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Unzstd } from '../../archive/unzstd.ts';
import type { MakePlan } from '../../codebases/plan.ts';
import type { Runtime as RuntimeName } from '../../contract/messages.ts';
import type { Descriptors } from '../../descriptors.ts';
import { ServiceError } from '../../errors.ts';
import type { Reserve } from '../../linux/disk-room.ts';
import type { Log } from '../../log.ts';
import type { SandboxNetworks } from '../../network/worker/networks.ts';
import type { RootFileSystem } from '../../runtime/root-file-system.ts';
import type { OwnerResources, RunningSandbox, Runtime } from '../../runtime/runtime.ts';
import type { TextTools } from '../../text-tools/text-tools.ts';
import type { SharedThreads } from '../../threads/thread-pool.ts';
import { checkDelta, type DeltaLayers, layersOfDelta } from '../../workspaces/delta/layers/layers-on-disk.ts';
import { homeBeside, type Workspaces } from '../../workspaces/mount-workspaces.ts';
import type { WorkspaceSpec } from '../../workspaces/workspaces.ts';
import { DETACHED, withoutProcesses } from '../host/host-state.ts';
import { homeDeltaOf, type Layout } from '../host/layout.ts';
import type { OwnerDeltas } from '../host/owner-deltas.ts';
import { closeNetwork, openNetwork } from '../network/open-network.ts';
import type { SecretSource } from '../network/secrets-in-force.ts';
import type { Taken } from '../ready/stock.ts';
import type { LiveSandbox } from '../sandbox.ts';

/** The components that a sandbox depends on. */
export interface Platform {
  layout: Layout;
  mount: Omit<
    Workspaces,
    'call' | 'usage' | 'exited' | 'threadsExited' | 'close' | 'baseChanging' | 'baseChanged' | 'reserve' | 'release'
  > & {
    /** Whether the workspace is attached and its file system is serving. */
    holds(id: string): boolean;
  };
  /** Returns a runtime that works on this machine; rejects with a one-line ServiceError otherwise. */
  runtime(name: RuntimeName): Promise<Runtime>;
  /** The file system of an image by its name or id; undefined: there is none. Absent: there are no images. */
  rootOf?(image: string): (RootFileSystem & { id: string }) | undefined;
  /** Host directory of a codebase's files. */
  basePath(codebaseId: string): string;
  /** Changes a codebase atomically; see `TreeCommits.commit`. */
  apply(codebaseId: string, plan: MakePlan): Promise<void>;
  /** Finishes a commit that a disk failure interrupted; throws if that is still not possible. */
  finishCommit(codebaseId: string): Promise<void>;
  /** Threads that archives are decompressed in. */
  unzstd: SharedThreads<Unzstd>;
  /** Threads that diffs are made in. */
  diffs: SharedThreads<TextTools>;
  /** Removes what nothing needs, slow files in the background; see `SlowRemovals`. */
  removeTree(path: string): Promise<void>;
  /** What all sandboxes of an owner may use together; undefined or absent: no limit. */
  ownerResources?(ownerId: string): OwnerResources | undefined;
  /** The bytes of the deltas of each owner; absent: they have no limit. */
  ownerDeltas?: OwnerDeltas | undefined;
  /** The networks of sandboxes; absent: there are none. */
  networks?: SandboxNetworks | undefined;
  /** What sandboxes whose connections are looked into trust, in PEM. Absent: no connection is. */
  authorities?: string | undefined;
  /** The secrets of owners; absent: there are none. */
  secrets?: SecretSource | undefined;
  maxDeltaBytes: number;
  /** `storage.reserve_bytes`. */
  reserve: Reserve;
  maxDeltaFiles: number;
  /** Has a reserve for operations that end sandboxes. */
  descriptors: Descriptors;
  /** Aborted at the end of the server: from then on nothing is given a grace, and those that have begun end. */
  graces: AbortController;
  maxIndexBytes: number;
  log: Log;
}

/** Maximum launches of one sandbox during which the workspace file system may fail. */
const ATTEMPTS = 3;

/**
 * Attaches the workspace and launches the runtime; undoes both if one fails. If the file system failed meanwhile, both
 * are repeated on the new mount. `onExit` is called at most once.
 */
export async function bringUp(
  sandbox: LiveSandbox,
  platform: Platform,
  onExit: (running: RunningSandbox, reason: string) => void,
): Promise<void> {
  const { ready } = sandbox;
  sandbox.ready = undefined;
  const taken = ready && (await bringUpReady(ready, sandbox, platform));
  if (taken !== undefined) {
    await openNetwork(sandbox, platform).catch(async (error: unknown) => {
      await takeDown(sandbox, platform);
      throw error;
    });
    void taken.exited.then((reason) => onExit(taken, reason));
    return;
  }
  const runtime = await platform.runtime(sandbox.record.runtime);
  for (let attempt = 1; ; attempt++) {
    try {
      const running = await launchOn(await attach(sandbox, platform), runtime, sandbox, platform);
      await openNetwork(sandbox, platform);
      void running.exited.then((reason) => onExit(running, reason));
      return;
    } catch (error) {
      // The failure may be the first sign that the file system was unmounted.
      if (sandbox.attached) await platform.mount.check();
      const again = isLost(sandbox, platform) && attempt < ATTEMPTS;
      await takeDown(sandbox, platform);
      if (!again) throw error;
    }
  }
}

/**
 * Makes a ready sandbox the processes of a new one. First come the limits, then the workspace at its place; no command runs before
 * both. undefined: it could not be used, nothing of it is left, and the sandbox is to be brought up without it.
 */
async function bringUpReady(
  ready: Taken,
  sandbox: LiveSandbox,
  platform: Platform,
): Promise<RunningSandbox | undefined> {
  const { id, record } = sandbox;
  const { place, workspace } = ready;
  try {
    const { uid, image, resources } = record;
    const spec = { id, workspace, home: homeBeside(workspace), runDir: '', uid, image, resources };
    const running = await ready.sandbox.take(spec);
    await attachWorkspace(sandbox, platform, place);
    sandbox.host = { kind: 'running', running, attached: true };
    if (isLost(sandbox, platform)) throw new Error('its workspace was lost');
    sandbox.isUnused = true;
    return running;
  } catch (err) {
    platform.log.warn('a ready sandbox could not be used', { sandbox_id: id, err });
    await ready.discard();
    await takeDown(sandbox, platform);
    return undefined;
  }
}

async function launchOn(
  workspace: string,
  runtime: Runtime,
  sandbox: LiveSandbox,
  platform: Platform,
): Promise<RunningSandbox> {
  const { id } = sandbox;
  const { uid, image, resources, runtime: runtimeName } = sandbox.record;
  const runDir = join(platform.layout.run, id);
  const owner = platform.ownerResources?.(sandbox.record.owner_id);
  const rootfs = runtimeName === 'RUNTIME_BWRAP' && image !== '' ? imageOf(image, platform) : undefined;
  const { read_only_paths: readOnlyPaths, workspace_path: workspacePath } = sandbox.record;
  const more = {
    ...(owner && { owner }),
    ...(rootfs && { rootfs }),
    ...(readOnlyPaths && { readOnlyPaths }),
    ...(workspacePath !== undefined && { workspacePath }),
  };
  const home = homeBeside(workspace);
  const running = await runtime.launch({ id, workspace, home, runDir, uid, image, resources, ...more });
  sandbox.host = { kind: 'running', running, attached: runtimeName !== 'RUNTIME_MOCK' };
  if (isLost(sandbox, platform)) throw new ServiceError('UNAVAILABLE', 'its workspace was lost while it came up');
  return running;
}

/** Of a sandbox of RUNTIME_BWRAP. */
function imageOf(image: string, platform: Platform): RootFileSystem {
  const found = platform.rootOf?.(image);
  if (found === undefined) throw new ServiceError('FAILED_PRECONDITION', `the image ${image} is missing`);
  return found;
}

/** Attached before, and the file system has failed since. */
function isLost(sandbox: LiveSandbox, { mount }: Platform): boolean {
  return sandbox.lost !== undefined || (sandbox.attached && !mount.holds(sandbox.id));
}

/** The reason that commands and clients get when the workspace file system has failed. */
export function describeLoss(reason: string): string {
  return `the workspace file system died: ${reason}`;
}

/** The mock runtime runs nothing and needs no mount. */
async function attach(sandbox: LiveSandbox, platform: Platform): Promise<string> {
  const { record, host } = sandbox;
  sandbox.host = DETACHED;
  if (record.runtime === 'RUNTIME_MOCK') return platform.basePath(record.codebase_id);
  const workspace = host.kind === 'leased' ? host.workspace : await attachWorkspace(sandbox, platform);
  sandbox.host = { kind: 'attached' };
  return workspace;
}

/** Throws DATA_LOSS if the sandbox's delta is missing. `place`: see `WorkspaceSpec`. */
export async function attachWorkspace(sandbox: LiveSandbox, platform: Platform, place?: string): Promise<string> {
  const spec = workspaceSpec(sandbox, platform);
  if (!sandbox.isNew) await checkDelta(spec, sandbox.record.changed === true);
  return platform.mount.attach(place === undefined ? spec : { ...spec, place });
}

/** What the file system needs to know of a sandbox, with its present rules and checkpoints. */
export function workspaceSpec({ id, record, changeCount, ownerBytes }: LiveSandbox, platform: Platform): WorkspaceSpec {
  return {
    id,
    codebaseId: record.codebase_id,
    base: platform.basePath(record.codebase_id),
    delta: deltaOf(id, platform.layout),
    home: { delta: homeDeltaOf(id, platform.layout), base: platform.layout.homes },
    layers: platform.layout.layers,
    ...(record.origin !== undefined && { origin: record.origin }),
    ...(record.checkpoints !== undefined && { checkpoints: record.checkpoints.map(({ layer }) => layer) }),
    uid: record.uid,
    rules: record.permissions,
    maxBytes: platform.maxDeltaBytes,
    maxFiles: platform.maxDeltaFiles,
    ...(ownerBytes !== undefined && { ownerBytes }),
    reserve: platform.reserve,
    maxIndexBytes: platform.maxIndexBytes,
    changeCount,
  };
}

/**
 * Kills every process of the sandbox and detaches its workspace; its delta is kept. Never throws: failures are logged.
 */
export async function takeDown(sandbox: LiveSandbox, platform: Platform): Promise<void> {
  const { id } = sandbox;
  await endProcesses(sandbox, platform);
  const { hasWorkspace } = sandbox;
  sandbox.host = DETACHED;
  if (hasWorkspace) await platform.mount.detach(id).catch((err: unknown) => left(id, 'workspace', err, platform));
}

/**
 * Kills every process; the workspace stays attached. `gently`: its files are kept, so its programs get the time to leave them in
 * order. Never throws: failures are logged.
 */
export async function endProcesses(sandbox: LiveSandbox, platform: Platform, gently = false): Promise<void> {
  const { id, running } = sandbox;
  sandbox.host = withoutProcesses(sandbox.host);
  await running
    ?.stop(undefined, gently ? platform.graces.signal : undefined)
    .catch((err: unknown) => left(id, 'runtime', err, platform));
  await closeNetwork(sandbox, platform.networks).catch((err: unknown) => left(id, 'network', err, platform));
}

function left(id: string, what: string, err: unknown, { log }: Platform): void {
  log.warn('sandbox could not be taken down cleanly', { sandbox_id: id, what, err });
}

/** The layers of a delta that was removed. */
export type RemovedLayers = DeltaLayers | 'unknown' | undefined;

/**
 * Removes the sandbox's delta; shared layers are kept. Returns the layers that it had; undefined: none. Throws if a
 * part could not be removed. Large files of its top layer and of HOME may be removed later.
 */
export async function removeDelta(id: string, platform: Platform): Promise<RemovedLayers> {
  const { layout } = platform;
  const delta = deltaOf(id, layout);
  // An unused HOME is empty, and without it so is the delta of a sandbox without changes.
  const unused = rmdir(homeDeltaOf(id, layout)).catch(() => undefined);
  const [layers] = await Promise.all([layersOfDelta(delta).catch(() => 'unknown' as const), unused]);
  const removals = [platform.removeTree(delta), rm(join(layout.run, id), { recursive: true, force: true })];
  // No other sandbox can refer to the top layer. Lower ones may belong to a fork.
  if (layers !== undefined && layers !== 'unknown') removals.push(platform.removeTree(join(layout.layers, layers.top)));
  await Promise.all(removals);
  return layers;
}

/** Host directory of a sandbox's delta. */
export function deltaOf(id: string, layout: Layout): string {
  return join(layout.deltas, id);
}
