import type { Sandbox } from '../../contract/messages.ts';
import { invalidArgument } from '../../errors.ts';
import { MAX_LABELS } from '../../label-limits.ts';
import type { SandboxUpdate } from '../../services.ts';
import type { SandboxContext } from '../context.ts';
import { isExpired } from '../host/clock.ts';
import type { LiveSandbox, RecordPatch } from '../sandbox.ts';
import { checkQuota } from './admission.ts';
import { expiryOf } from './create.ts';
import { hasWork } from './has-work.ts';
import { expired } from './start-stop.ts';

/**
 * Changes what the request names, in every state, all or nothing. Durable when it resolves. An expired sandbox that is
 * to be destroyed stays expired: FAILED_PRECONDITION. One that is kept counts for `sandbox.max_per_user` again when its
 * expiry ends: RESOURCE_EXHAUSTED.
 */
export async function updateSandbox(request: SandboxUpdate, context: SandboxContext): Promise<Sandbox> {
  const { sandbox_id, labels, remove_labels, expires_in, idle_timeout, on_idle, on_expire } = request;
  const twice = remove_labels.find((key) => Object.hasOwn(labels, key));
  if (twice !== undefined) {
    throw invalidArgument('remove_labels', `must not have ${JSON.stringify(twice)}, which is in labels`);
  }
  return context.change(sandbox_id, async (sandbox) => {
    const isPast = isExpired(sandbox.record.expires_at, context.clock);
    if (isPast && !(await isKept(sandbox, context))) throw expired(sandbox.record);
    const patch: RecordPatch = {
      ...changedLabels(request, sandbox.record.labels),
      ...(expires_in !== undefined && { expires_at: expiryOf(expires_in, context), kept: undefined, destroy_at: 0 }),
      ...(idle_timeout !== undefined && { idle_timeout }),
      ...(on_idle !== undefined && { on_idle: on_idle || 'stop' }),
      ...(on_expire !== undefined && { on_expire: on_expire || context.settings.expiry.onExpire }),
    };
    if (isPast && expires_in !== undefined) {
      const { sandboxes, settings, clock } = context;
      checkQuota(sandbox.record.owner_id, sandboxes.values(), settings.owners, clock);
    }
    if (Object.keys(patch).length > 0) await sandbox.update(patch, context.metadata.sandboxes);
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
  const kept = clear_labels ? [] : Object.entries(present).filter(([key]) => !remove_labels.includes(key));
  const merged = Object.fromEntries([...kept, ...Object.entries(labels)]);
  const count = Object.keys(merged).length;
  if (count <= MAX_LABELS) return { labels: merged };
  throw invalidArgument('labels', `must leave the sandbox at most ${MAX_LABELS} labels, not ${count}`);
}
