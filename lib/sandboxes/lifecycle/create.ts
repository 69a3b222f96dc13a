import { quoteText } from '../../byte-string.ts';
import type { ResourceLimits, Runtime as RuntimeName, Sandbox } from '../../contract/messages.ts';
import { invalidArgument, ServiceError } from '../../errors.ts';
import { newId } from '../../ids.ts';
import type { SandboxRecord } from '../../metadata/metadata.ts';
import { shownSandbox } from '../../metadata/shown.ts';
import { notFound } from '../../not-found.ts';
import type { NewSandbox } from '../../services.ts';
import type { SandboxContext } from '../context.ts';
import { newPolicy } from '../network/policies.ts';
import { newSecrets, requireSecrets } from '../network/secrets.ts';
import { presetRules, rulesOf } from '../permissions/rules.ts';
import { kindOf, type ReadyKind } from '../ready/kind.ts';
import { LiveSandbox } from '../sandbox.ts';
import { quotaOf } from './admission.ts';
import { bringUp, takeDown } from './bring-up.ts';
import { onExit, reasonOf } from './failure.ts';
import { type Places, placesOf } from './places.ts';

/** RUNNING and durable when it resolves; a failure leaves nothing. With `validate_only` nothing is made. */
export async function createSandbox(request: NewSandbox, context: SandboxContext): Promise<Sandbox> {
  const runtime = request.runtime ?? context.settings.runtime;
  imageOf(request.image, runtime, context);
  const places = placesOf(request, runtime, context.settings);
  const network = newPolicy(request.network, runtime, context);
  const permissions = await rulesOf(request);
  const { owner_id } = codebaseOf(request.codebase_id, context);
  // Before anything is made: throws if no workspace can show its files.
  context.platform.basePath(request.codebase_id);
  await requireSecrets(request.secrets ?? [], owner_id, context);
  await context.platform.runtime(runtime);
  context.refuseWhenClosing();
  // In the same turn as the registration, so that the image cannot be deleted in between.
  const image = imageOf(request.image, runtime, context);
  const resources = withDefaults(request.resources, context.settings.defaultResources);
  const secrets = newSecrets(request.secrets ?? [], owner_id, { ...request, network }, context);
  const recordFor = (owner: string, uid: number) =>
    recordOf({ ...request, image, permissions, resources }, { network, secrets, places }, runtime, owner, uid, context);
  if (request.validate_only) return unmade(recordFor(owner_id, NO_UID), context);
  const kind = { runtime, image, resources, ...places };
  const admitted = await admit(request.codebase_id, kind, context, recordFor);
  admitted.sandbox.committedCount = 0;
  admitted.sandbox.isNew = true;
  const pending = context.warnings.look(request.codebase_id, permissions, presetRules(request.preset));
  const sandbox = await bringUpNew(admitted, context);
  return { ...sandbox, warnings: await pending.settled() };
}

/** No host user's. */
const NO_UID = -1;

/** The sandbox that a request would create. */
const unmade = (record: SandboxRecord, { clock }: SandboxContext): Sandbox =>
  shownSandbox({ ...record, id: '', status: 'SANDBOX_PENDING' }, clock.now());

/** What the record names: the reference of a container image, or the id of an image of this server. */
function imageOf(image: string, runtime: RuntimeName, { platform, settings }: SandboxContext): string {
  if (runtime === 'RUNTIME_DOCKER') return image || settings.defaultImage;
  if (image === '') return '';
  if (runtime === 'RUNTIME_MOCK') {
    throw invalidArgument('image', 'is for the runtimes bwrap and docker, this sandbox would be of mock');
  }
  const found = platform.rootOf?.(image);
  if (found !== undefined) return found.id;
  throw invalidArgument(
    'image',
    `${quoteText(image)} is no image of this server: ListImages lists them, ImportImage stores one`,
  );
}

/** A sandbox that is counted and being stored, with the operations to wait for. */
export interface Admitted {
  sandbox: LiveSandbox;
  stored: Promise<void>;
}

/**
 * Registers a sandbox in the same turn, so that what it needs cannot be deleted from then on. Must be followed by
 * `bringUpNew`. `bytes`: those that its delta starts with.
 */
export async function admit(
  codebaseId: string,
  kind: ReadyKind,
  context: SandboxContext,
  recordFor: (ownerId: string, uid: number) => SandboxRecord,
  bytes = 0,
): Promise<Admitted> {
  const { owner_id } = codebaseOf(codebaseId, context);
  let sandbox: LiveSandbox | undefined;
  const register = () => {
    sandbox = registered(owner_id, kind, context, recordFor, bytes);
    return sandbox.record;
  };
  try {
    // From here on the record has the state to restore after a crash: running. Storing overlaps with the launch.
    const asked = { codebase_id: codebaseId, owner_id };
    const { stored } = await context.metadata.sandboxes.admit(asked, quotaOf(owner_id, context), register);
    return { sandbox: sandbox!, stored };
  } catch (error) {
    if (sandbox !== undefined) await undo(sandbox, error, context);
    throw error;
  }
}

/** Takes a user, and a ready sandbox if one fits. */
function registered(
  owner_id: string,
  kind: ReadyKind,
  context: SandboxContext,
  recordFor: (ownerId: string, uid: number) => SandboxRecord,
  bytes: number,
): LiveSandbox {
  context.platform.ownerDeltas?.requireRoom(owner_id, bytes);
  const ready = context.ready?.take(kindOf({ ...kind, owner_id }, context));
  const uid = ready?.uid ?? context.uids.take();
  if (uid === undefined) {
    throw new ServiceError('RESOURCE_EXHAUSTED', 'every host user of runtime.uid_range is in use by a sandbox');
  }
  const record = recordFor(owner_id, uid);
  const sandbox = new LiveSandbox(bytes > 0 ? { ...record, delta_bytes: bytes } : record, 'SANDBOX_PENDING');
  sandbox.ready = ready;
  context.add(sandbox);
  return sandbox;
}

/**
 * RUNNING and durable when it resolves; a failure leaves nothing. Occupies the sandbox's queue from the call on, so
 * that concurrent operations wait. `turn`: limits concurrent launches.
 */
export function bringUpNew(
  { sandbox, stored }: Admitted,
  context: SandboxContext,
  turn: <T>(task: () => Promise<T>) => Promise<T> = (task) => task(),
): Promise<Sandbox> {
  const launch = async () => {
    context.refuseWhenClosing();
    await bringUp(sandbox, context.platform, onExit(sandbox, context));
    sandbox.isNew = false;
  };
  const up = sandbox.queue.run(async () => {
    const [written, launched] = await Promise.allSettled([stored, turn(launch)]);
    const failed = [written, launched].find((outcome) => outcome.status === 'rejected');
    if (failed) {
      await undo(sandbox, failed.reason, context);
      throw failed.reason;
    }
    sandbox.transition('launched');
    return sandbox.view();
  });
  return context.ready?.creating(up, kindOf(sandbox.record, context)) ?? up;
}

function codebaseOf(id: string, context: SandboxContext) {
  const codebase = context.metadata.codebases.get(id);
  if (!codebase) throw notFound('codebase', id);
  return codebase;
}

/** Absent parts: the sandbox has none. */
interface Parts {
  places: Places;
  network: SandboxRecord['network'] | undefined;
  secrets: SandboxRecord['secrets'] | undefined;
}

function recordOf(
  request: NewSandbox,
  { network, secrets, places }: Parts,
  runtime: RuntimeName,
  owner: string,
  uid: number,
  context: SandboxContext,
): SandboxRecord {
  const { clock, settings } = context;
  return {
    id: newId('sb'),
    codebase_id: request.codebase_id,
    status: 'SANDBOX_RUNNING',
    permissions: request.permissions,
    labels: request.labels,
    created_at: Math.floor(clock.now() / 1000),
    expires_at: expiryOf(request.expires_in, context),
    runtime,
    image: request.image,
    resources: request.resources,
    status_reason: '',
    auto_commit: request.auto_commit || 'never',
    auto_commit_error: '',
    auto_commit_stopped: false,
    owner_id: owner,
    idle_timeout: request.idle_timeout,
    on_idle: request.on_idle || 'stop',
    shell: request.shell,
    env: request.env,
    workdir: request.workdir,
    on_expire: request.on_expire || settings.expiry.onExpire,
    destroy_at: 0,
    uid,
    ...(network && { network }),
    ...(secrets && { secrets }),
    ...places,
    ...(request.intent !== undefined && { intent: request.intent }),
  };
}

/** Time of expiry in `expiresIn` seconds; 0: after the server's default lifetime, which may be for ever (0). */
export function expiryOf(expiresIn: number, { clock, settings }: SandboxContext): number {
  const lifetime = expiresIn || Math.ceil(settings.defaultExpiration / 1000);
  return lifetime === 0 ? 0 : Math.floor(clock.now() / 1000) + lifetime;
}

function withDefaults(asked: ResourceLimits, defaults: ResourceLimits): ResourceLimits {
  return {
    memory_bytes: asked.memory_bytes || defaults.memory_bytes,
    cpu_quota: asked.cpu_quota || defaults.cpu_quota,
    cpu_shares: asked.cpu_shares || defaults.cpu_shares,
    pids_limit: asked.pids_limit || defaults.pids_limit,
  };
}

/** The client gets the original failure. If the record cannot be removed, the sandbox stays as SANDBOX_ERROR. */
async function undo(sandbox: LiveSandbox, reason: unknown, context: SandboxContext): Promise<void> {
  sandbox.destroying = true;
  await sandbox.ready?.discard();
  await takeDown(sandbox, context.platform);
  try {
    await context.metadata.sandboxes.remove(sandbox.id);
  } catch {
    sandbox.destroying = false;
    sandbox.transition('failed', reasonOf(reason));
    return;
  }
  await context.forget(sandbox);
}
