import { MAX_SANDBOX_ENV_BYTES, MAX_SANDBOX_VARIABLES } from '../../command-limits.ts';
import type { Sandbox } from '../../contract/messages.ts';
import { invalidArgument } from '../../errors.ts';
import { MAX_LABELS } from '../../label-limits.ts';
import type { SandboxRecord } from '../../metadata/metadata.ts';
import type { SandboxUpdate } from '../../services.ts';
import type { SandboxContext } from '../context.ts';
import { isExpired } from '../host/clock.ts';
import type { LiveSandbox, RecordPatch } from '../sandbox.ts';
import { quotaOf } from './admission.ts';
import { expiryOf } from './create.ts';
import { hasWork } from './has-work.ts';
import { expired } from './start-stop.ts';

/**
 * Changes what the request names, in every state, all or nothing. Durable when it resolves. An expired sandbox that is
 * to be destroyed stays expired: FAILED_PRECONDITION. One that is kept counts for `sandbox.max_per_user` again when its
 * expiry ends: RESOURCE_EXHAUSTED.
 */
export async function updateSandbox(request: SandboxUpdate, context: SandboxContext): Promise<Sandbox> {
  const { sandbox_id, labels, remove_labels, env, remove_env, expires_in, idle_timeout, on_idle, on_expire } = request;
  refuseBoth('labels', labels, remove_labels);
  refuseBoth('env', env, remove_env);
  return context.change(sandbox_id, async (sandbox) => {
    const isPast = isExpired(sandbox.record.expires_at, context.clock);
    if (isPast && !(await isKept(sandbox, context))) throw expired(sandbox.record);
    const patch: RecordPatch = {
      ...changedLabels(request, sandbox.record.labels),
      ...changedEnv(request, sandbox.record.env),
      ...(request.shell !== undefined && { shell: request.shell }),
      ...(request.workdir !== undefined && { workdir: request.workdir }),
      ...(expires_in !== undefined && { expires_at: expiryOf(expires_in, context), kept: undefined, destroy_at: 0 }),
      ...(idle_timeout !== undefined && { idle_timeout }),
      ...(on_idle !== undefined && { on_idle: on_idle || 'stop' }),
      ...(on_expire !== undefined && { on_expire: on_expire || context.settings.expiry.onExpire }),
    };
    const { sandboxes: records } = context.metadata;
    const quota = quotaOf(sandbox.record.owner_id, context);
    const admitting = {
      put: async (record: SandboxRecord) => (await records.admit(record, quota, () => record)).stored,
    };
    const isAdmitted = isPast && expires_in !== undefined;
    if (Object.keys(patch).length > 0) await sandbox.update(patch, isAdmitted ? admitting : records);
    return sandbox.view();
  });
}

/** Of an expired sandbox: whether it was kept, or will be at the next cleanup. */
async function isKept(sandbox: LiveSandbox, context: SandboxContext): Promise<boolean> {
  const { kept, on_expire } = sandbox.record;
  return kept === true || on_expire === 'stop' || (on_expire === 'keep_changes' && (await hasWork(sandbox, context)));
}

/** The labels after the request; nothing if it names none. Throws INVALID_ARGUMENT if they were too many. */
function changedLabels(
  { labels, remove_labels, clear_labels }: SandboxUpdate,
  present: Readonly<Record<string, string>>,
): { labels?: Record<string, string> } {
  if (Object.keys(labels).length === 0 && remove_labels.length === 0 && !clear_labels) return {};
  const merged = changedMap(present, labels, remove_labels, clear_labels);
  const count = Object.keys(merged).length;
  if (count <= MAX_LABELS) return { labels: merged };
  throw invalidArgument('labels', `must leave the sandbox at most ${MAX_LABELS} labels, not ${count}`);
}

/** The variables after the request; nothing if it names none. Throws INVALID_ARGUMENT if they were too many. */
function changedEnv(
  { env, remove_env, clear_env }: SandboxUpdate,
  present: Readonly<Record<string, string>>,
): { env?: Record<string, string> } {
  if (Object.keys(env).length === 0 && remove_env.length === 0 && !clear_env) return {};
  const merged = changedMap(present, env, remove_env, clear_env);
  const entries = Object.entries(merged);
  if (entries.length > MAX_SANDBOX_VARIABLES) {
    throw invalidArgument(
      'env',
      `must leave the sandbox at most ${MAX_SANDBOX_VARIABLES} variables, not ${entries.length}`,
    );
  }
  const bytes = entries.reduce((sum, [name, value]) => sum + name.length + Buffer.byteLength(value) + 2, 0);
  if (bytes <= MAX_SANDBOX_ENV_BYTES) return { env: merged };
  throw invalidArgument(
    'env',
    `must leave the sandbox at most ${MAX_SANDBOX_ENV_BYTES} bytes of variables, not ${bytes}`,
  );
}

function changedMap(
  present: Readonly<Record<string, string>>,
  added: Readonly<Record<string, string>>,
  removed: readonly string[],
  clear: boolean,
): Record<string, string> {
  const without = new Set(removed);
  const kept = clear ? [] : Object.entries(present).filter(([key]) => !without.has(key));
  return Object.fromEntries([...kept, ...Object.entries(added)]);
}

function refuseBoth(field: string, added: Readonly<Record<string, string>>, removed: readonly string[]): void {
  const twice = removed.find((key) => Object.hasOwn(added, key));
  if (twice === undefined) return;
  throw invalidArgument(`remove_${field}`, `must not have ${JSON.stringify(twice)}, which is in ${field}`);
}
