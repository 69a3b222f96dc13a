import type { ExecRequest } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import type { CommandEvent, Execution } from '../../runtime/runtime.ts';
import { autoCommit, commitsItself } from '../changes/auto-commit.ts';
import type { SandboxContext } from '../context.ts';
import { isExpired } from '../host/clock.ts';
import { expired } from '../lifecycle/start-stop.ts';
import { withDenied } from '../network/with-denied.ts';
import { isChanging, type LiveSandbox } from '../sandbox.ts';
import { withDefaults } from './defaults.ts';
import { timeoutOf } from './timeout.ts';

/** Runs a command, concurrently with others. If the sandbox is just starting, the command waits. */
export async function execInSandbox(
  request: ExecRequest,
  signal: AbortSignal,
  context: SandboxContext,
): Promise<Execution> {
  const { command, argv, stdin, stdin_bytes, merge } = request;
  const timeoutMs = timeoutOf(request, context.settings);
  const ready = runnable(request.sandbox_id, signal, context);
  const sandbox = ready instanceof Promise ? await ready : ready;
  if (!sandbox.running) throw sandbox.refuse();
  const program = argv.length > 0 ? { command: '', argv } : { command };
  const input = stdin_bytes.length > 0 ? stdin_bytes : stdin;
  const around = withDefaults(request, sandbox.record);
  const startedAt = Date.now();
  const running = await sandbox.running.exec({ ...program, ...around, merge, stdin: input, timeoutMs, signal });
  const execution = withDenied(running, sandbox, startedAt);
  return sandbox.record.auto_commit === 'on_exec' ? committing(execution, sandbox.id, context) : execution;
}

/**
 * The sandbox, which can run a command now. If it is just starting, waits for that. Otherwise FAILED_PRECONDITION with
 * the reason.
 */
export function runnable(id: string, signal: AbortSignal, context: SandboxContext): LiveSandbox | Promise<LiveSandbox> {
  context.refuseWhenClosing();
  const sandbox = context.find(id);
  const check = () => {
    if (isExpired(sandbox.record.expires_at, context.clock)) throw expired(sandbox.record);
    if (sandbox.destroying) throw new ServiceError('FAILED_PRECONDITION', `sandbox ${sandbox.id} is being destroyed`);
    if (sandbox.status !== 'SANDBOX_RUNNING' || !sandbox.running) throw sandbox.refuse();
    if (signal.aborted) throw new ServiceError('CANCELLED', 'the client disconnected');
    openUnused(sandbox, context);
    return sandbox;
  };
  return isChanging(sandbox) ? context.settled(sandbox).then(check) : check();
}

/** Has the request worker read the delta while this thread starts the first command of a sandbox that was a ready one. */
function openUnused(sandbox: LiveSandbox, { platform }: SandboxContext): void {
  if (!sandbox.isUnused) return;
  sandbox.isUnused = false;
  // The command's first access meets the error, too.
  platform.mount.open(sandbox.id).catch(() => undefined);
}

/** Delays the end of a command, successful or not, until its changes are committed. The consumer may have left. */
export async function* committing(
  execution: Execution,
  id: string,
  context: SandboxContext,
): AsyncGenerator<CommandEvent> {
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
export async function commitAfterExec(id: string, context: SandboxContext): Promise<void> {
  const commit = async (sandbox: LiveSandbox) => {
    if (commitsItself(sandbox) && sandbox.status === 'SANDBOX_RUNNING') await autoCommit(sandbox, context);
  };
  await context.change(id, commit).catch(() => undefined);
}
