import { readFileSync } from 'node:fs';
import { SandboxEnded } from '../../errors.ts';
import { errorCode } from '../../linux/errno.ts';
import type { CommandEvent, RunningCommand } from '../runtime.ts';

const KILLED = 137;

/**
 * A command killed by the end of its container looks like any killed command until the daemon reports the end. `dying`
 * is called only then; if it returns a reason, the command fails with UNAVAILABLE as the contract requires.
 */
export function unlessDying(command: RunningCommand, dying: () => Promise<string | undefined>): RunningCommand {
  return {
    input: command.input,
    kill: (signal) => command.kill(signal),
    pids: () => command.pids(),
    get endLeftBehind() {
      return command.endLeftBehind;
    },
    ...(command.resize && { resize: (size) => command.resize!(size) }),
    [Symbol.asyncIterator]() {
      const events = command[Symbol.asyncIterator]();
      return {
        async next() {
          const result = await events.next();
          if (!result.done && result.value.kind === 'exit' && result.value.exitCode === KILLED) {
            const reason = await dying();
            if (reason !== undefined) throw new SandboxEnded(reason);
          }
          return result;
        },
        return: async () => (await events.return?.()) ?? { done: true, value: undefined as unknown as CommandEvent },
      };
    },
  };
}

/**
 * PF_EXITING: the init process exits before the processes of its pid namespace are killed, which takes a moment
 * (proc_pid_stat(5), flags).
 */
const PF_EXITING = 0x4;

/** Whether a host process exists and is not exiting (PF_EXITING in proc_pid_stat(5)). True if that cannot be read. */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[6]) & PF_EXITING) === 0;
  } catch (error) {
    // Any other error says nothing about the process.
    return !['ENOENT', 'ESRCH'].includes(errorCode(error) ?? '');
  }
}

export function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just exited.
  }
}
