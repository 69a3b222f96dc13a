import { ServiceError } from '../errors.ts';
import type { ExecRequest } from '../messages.ts';
import type { Execution } from '../runtime/runtime.ts';
import { checkExec } from './check-exec.ts';
import { isExpired } from './clock.ts';
import type { SandboxContext } from './context.ts';
import { expired } from './start-stop.ts';

/** Commands run beside each other; one on a sandbox that is just coming up waits for that. */
export async function execInSandbox(
  request: ExecRequest,
  signal: AbortSignal,
  context: SandboxContext,
): Promise<Execution> {
  context.refuseWhenClosing();
  const sandbox = context.find(request.sandbox_id);
  const command = checkExec(request, context.settings, signal);
  if (sandbox.status === 'SANDBOX_PENDING') await sandbox.queue.run(async () => undefined);
  if (isExpired(sandbox.record.expires_at, context.clock)) throw expired(sandbox.id);
  if (sandbox.leaving) throw new ServiceError('FAILED_PRECONDITION', `sandbox ${sandbox.id} is being destroyed`);
  if (sandbox.status !== 'SANDBOX_RUNNING' || !sandbox.running) throw sandbox.refuse();
  if (signal.aborted) throw new ServiceError('CANCELLED', 'the client went away');
  return sandbox.running.exec(command);
}
