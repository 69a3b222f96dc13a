import { ServiceError } from '../../errors.ts';

/** Processes of the agent that are tried: all are in the sandbox but its launcher. */
const MOST_ASKED = 8;

/** What `ask` finds out about a sandbox by one of its processes. */
export async function askOneOf<T>(pids: readonly number[], ask: (pid: number) => T | Promise<T>): Promise<T> {
  for (const pid of pids.slice(-MOST_ASKED).reverse()) {
    try {
      return await ask(pid);
    } catch {
      // It is outside of the sandbox's namespaces, or has ended.
    }
  }
  throw new ServiceError('FAILED_PRECONDITION', 'the server cannot see the processes of the sandbox here');
}
