import type { Sandbox } from '../../contract/messages.ts';
import { invalidArgument } from '../../errors.ts';
import { MAX_LABELS } from '../../label-limits.ts';
import type { SandboxUpdate } from '../../services.ts';
import type { SandboxContext } from '../context.ts';
import { isExpired } from '../host/clock.ts';
import type { RecordPatch } from '../sandbox.ts';
import { expiryOf } from './create.ts';
import { expired } from './start-stop.ts';

/**
 * Changes what the request names, in every state, all or nothing. Durable when it resolves. An expired sandbox stays
 * expired: it no longer counts for `sandbox.max_per_user`. FAILED_PRECONDITION.
 */
export async function updateSandbox(request: SandboxUpdate, context: SandboxContext): Promise<Sandbox> {
  const { sandbox_id, labels, remove_labels, expires_in, idle_timeout, on_idle } = request;
  const twice = remove_labels.find((key) => Object.hasOwn(labels, key));
  if (twice !== undefined) {
    throw invalidArgument('remove_labels', `must not have ${JSON.stringify(twice)}, which is in labels`);
  }
  return context.change(sandbox_id, async (sandbox) => {
    if (isExpired(sandbox.record.expires_at, context.clock)) throw expired(sandbox_id);
    const patch: RecordPatch = {
      ...changedLabels(request, sandbox.record.labels),
      ...(expires_in !== undefined && { expires_at: expiryOf(expires_in, context) }),
      ...(idle_timeout !== undefined && { idle_timeout }),
      ...(on_idle !== undefined && { on_idle: on_idle || 'stop' }),
    };
    if (Object.keys(patch).length > 0) await sandbox.update(patch, context.metadata.sandboxes);
    return sandbox.view();
  });
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
