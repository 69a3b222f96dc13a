import type { ForkResult } from '../../contract/messages.ts';
import { CODES, ServiceError } from '../../errors.ts';
import { toServiceError } from '../../host-error.ts';
import { newId } from '../../ids.ts';
import type { SandboxRecord } from '../../metadata/metadata.ts';
import { isEmptyShortForm } from '../../permissions/index.ts';
import type { NewForks } from '../../services.ts';
import { withWorkspace } from '../changes/with-workspace.ts';
import type { SandboxContext } from '../context.ts';
import { isExpired } from '../host/clock.ts';
import { type Admitted, admit, bringUpNew } from '../lifecycle/create.ts';
import { expired } from '../lifecycle/start-stop.ts';
import { limiter } from '../limiter.ts';
import { forkedPolicy } from '../network/policies.ts';
import { forkedSecrets, requireSecrets } from '../network/secrets.ts';
import { presetRules, rulesOf } from '../permissions/rules.ts';
import { checkpointOf } from './checkpoints.ts';

/** Maximum number of concurrent launches. */
const CONCURRENCY = 8;

/**
 * Freezes one layer, from which all new sandboxes start, so the cost does not depend on the size of the forked sandbox.
 * They are admitted before any other operation on the forked sandbox, so that the layer is not reclaimed.
 */
export async function forkSandbox(request: NewForks, context: SandboxContext): Promise<ForkResult[]> {
  const { record: parent } = context.find(request.sandbox_id);
  const overrides = await overridesOf(request, parent, context);
  const { permissions: rules } = overrides;
  await requireSecrets(request.secrets ?? [], parent.owner_id, context);
  const intent = request.intent === undefined ? {} : { intent: request.intent };
  const admitted = await withWorkspace(request.sandbox_id, context, async (mount, sandbox) => {
    const { id, record } = sandbox;
    if (isExpired(record.expires_at, context.clock)) throw expired(record);
    return context.layers.growing(id, async () => {
      const checkpoint =
        request.checkpoint === '' ? undefined : checkpointOf(sandbox, request.checkpoint, 'checkpoint');
      await mount.requireForkRoom(id, checkpoint?.layer ?? '').catch((error) => {
        // What only this sandbox needs by now is removed in the background, and may have waited until it was started.
        context.reclaimLayers();
        throw error;
      });
      const frozen = checkpoint ?? (await mount.freeze(id));
      context.refuseWhenClosing();
      const forks: (Admitted | ServiceError)[] = [];
      for (let index = 0; index < request.count; index++) {
        const made = await attempt(async () => {
          const secrets = forkedSecrets(request.secrets ?? [], record, { ...record, ...overrides }, context);
          const fork = await admit(
            record.codebase_id,
            { ...record, ...overrides },
            context,
            (owner_id, uid) =>
              recordOf(
                record,
                overrides,
                { owner_id, uid, origin: frozen.layer, ...intent, ...(secrets && { secrets }) },
                context,
              ),
            frozen.bytes,
          );
          fork.sandbox.isNew = checkpoint === undefined;
          return fork;
        });
        forks.push(made);
      }
      return forks;
    });
  });
  const turn = limiter(CONCURRENCY);
  const pending = rules && context.warnings.look(parent.codebase_id, rules, presetRules(request.preset));
  const results = await Promise.all(admitted.map((each) => result(each, turn, context)));
  const warnings = await pending?.settled();
  return results.map((each) => (each.sandbox && warnings ? { sandbox: { ...each.sandbox, warnings } } : each));
}

type Overrides = Partial<
  Pick<
    SandboxRecord,
    'permissions' | 'labels' | 'resources' | 'network' | 'auto_commit' | 'idle_timeout' | 'on_idle' | 'on_expire'
  > &
    Pick<SandboxRecord, 'shell' | 'env' | 'workdir'>
> & {
  lifetime: number;
};

/** Throws INVALID_ARGUMENT naming the field. */
async function overridesOf(request: NewForks, parent: SandboxRecord, context: SandboxContext): Promise<Overrides> {
  const network = forkedPolicy(request.network, parent, context);
  const { created_at, expires_at, resources } = parent;
  const { permissions, preset, rules, labels, auto_commit, expires_in, idle_timeout, on_idle, on_expire } = request;
  const given = Object.entries(request.resources).filter(([, value]) => value !== 0);
  return {
    lifetime: expires_in || (expires_at === 0 ? 0 : expires_at - created_at),
    resources: { ...resources, ...Object.fromEntries(given) },
    ...((permissions.length > 0 || preset !== '' || !isEmptyShortForm(rules)) && {
      permissions: await rulesOf({ permissions, preset, rules }),
    }),
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(auto_commit !== '' && { auto_commit }),
    ...(idle_timeout !== undefined && { idle_timeout }),
    ...(on_idle !== '' && { on_idle }),
    ...(on_expire && { on_expire }),
    ...(request.shell !== '' && { shell: request.shell }),
    ...(Object.keys(request.env).length > 0 && { env: request.env }),
    ...(request.workdir !== '' && { workdir: request.workdir }),
    ...(network && { network }),
  };
}

function recordOf(
  parent: SandboxRecord,
  { lifetime, ...overrides }: Overrides,
  own: Pick<SandboxRecord, 'owner_id' | 'uid' | 'origin' | 'intent' | 'secrets'>,
  context: SandboxContext,
): SandboxRecord {
  const { codebase_id, permissions, labels, runtime, image, auto_commit, idle_timeout, on_idle, on_expire } = parent;
  const { shell, env, workdir, read_only_paths, workspace_path } = parent;
  const now = Math.floor(context.clock.now() / 1000);
  return {
    id: newId('sb'),
    codebase_id,
    status: 'SANDBOX_RUNNING',
    permissions,
    labels,
    created_at: now,
    expires_at: lifetime === 0 ? 0 : now + lifetime,
    runtime,
    image,
    auto_commit,
    idle_timeout,
    on_idle,
    shell,
    env,
    workdir,
    on_expire,
    destroy_at: 0,
    resources: { memory_bytes: 0, cpu_quota: 0, cpu_shares: 0, pids_limit: 0 },
    status_reason: '',
    auto_commit_error: '',
    auto_commit_stopped: false,
    ...(read_only_paths && { read_only_paths }),
    ...(workspace_path !== undefined && { workspace_path }),
    ...overrides,
    ...own,
  };
}

async function attempt(make: () => Promise<Admitted>): Promise<Admitted | ServiceError> {
  try {
    return await make();
  } catch (error) {
    return toServiceError(error);
  }
}

async function result(
  admitted: Admitted | ServiceError,
  turn: ReturnType<typeof limiter>,
  context: SandboxContext,
): Promise<ForkResult> {
  try {
    if (admitted instanceof ServiceError) throw admitted;
    return { sandbox: await bringUpNew(admitted, context, turn) };
  } catch (error) {
    const { code, message, cause } = toServiceError(error);
    if (code === 'INTERNAL') context.log.error('fork failed', { err: cause });
    return { error: { code: CODES[code].grpc, message } };
  }
}
