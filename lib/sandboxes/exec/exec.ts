import type { ExecRequest } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import type { CommandEvent, Execution } from '../../runtime/runtime.ts';
import { autoCommit, commitsItself } from '../changes/auto-commit.ts';
import type { SandboxContext } from '../context.ts';
import { isExpired } from '../host/clock.ts';
import { expired } from '../lifecycle/start-stop.ts';
import { isChanging, type LiveSandbox } from '../sandbox.ts';
import { timeoutOf } from './timeout.ts';

/** Runs a command, concurrently with others. If the sandbox is just starting, the command waits. */
export async function execInSandbox(
  request: ExecRequest,
  signal: AbortSignal,
  context: SandboxContext,
): Promise<Execution> {
  context.refuseWhenClosing();
  const sandbox = context.find(request.sandbox_id);
  const { command, stdin, env, workdir } = request;
  const timeoutMs = timeoutOf(request, context.settings);
  if (isChanging(sandbox)) await context.settled(sandbox);
  if (isExpired(sandbox.record.expires_at, context.clock)) throw expired(sandbox.id);
  if (sandbox.destroying) throw new ServiceError('FAILED_PRECONDITION', `sandbox ${sandbox.id} is being destroyed`);
  if (sandbox.status !== 'SANDBOX_RUNNING' || !sandbox.running) throw sandbox.refuse();
  if (signal.aborted) throw new ServiceError('CANCELLED', 'the client disconnected');
  const execution = await sandbox.running.exec({ command, stdin, env, workdir, timeoutMs, signal });
  return sandbox.record.auto_commit === 'on_exec' ? committing(execution, sandbox.id, context) : execution;
}

/** Delays the end of a command, successful or not, until its changes are committed. The consumer may have left. */
async function* committing(execution: Execution, id: string, context: SandboxContext): AsyncGenerator<CommandEvent> {
  try {
    for await (const event of execution) {
      if (event.kind === 'exit') await commitAfterExec(id, context);
      yield event;
    }
  } catch (error) {
    await commitAfterExec(id, context);
    throw error;
  }
}

/** A sandbox that was stopped or destroyed meanwhile has been committed already. */
async function commitAfterExec(id: string, context: SandboxContext): Promise<void> {
  const commit = async (sandbox: LiveSandbox) => {
    if (commitsItself(sandbox) && sandbox.status === 'SANDBOX_RUNNING') await autoCommit(sandbox, context);
  };
  await context.change(id, commit).catch(() => undefined);
}
