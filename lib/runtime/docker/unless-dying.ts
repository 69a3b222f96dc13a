import { SandboxEnded } from '../../errors.ts';
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

export function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just exited.
  }
}
