import { ServiceError } from '../../errors.ts';
import type { CommandEvent, Execution } from '../../runtime/runtime.ts';
import type { LiveSandbox } from '../sandbox.ts';
import type { RefusalLog } from './refusal-log.ts';

/**
 * The events of a command that started at a time in milliseconds; the last one has what was refused since, and so have the
 * details of the error if it runs longer than its timeout.
 */
export function withDenied(execution: Execution, { refusals }: LiveSandbox, startedAt: number): Execution {
  return refusals === undefined ? execution : reporting(execution, refusals, startedAt);
}

async function* reporting(execution: Execution, refusals: RefusalLog, startedAt: number): AsyncGenerator<CommandEvent> {
  try {
    for await (const event of execution) {
      if (event.kind !== 'exit') {
        yield event;
        continue;
      }
      const denied = await refusals.since(startedAt);
      yield denied.length === 0 ? event : { ...event, denied };
    }
  } catch (error) {
    // A program that is refused may try for as long as it can.
    if (!(error instanceof ServiceError) || error.code !== 'DEADLINE_EXCEEDED') throw error;
    const denied_hosts = await refusals.since(startedAt);
    if (denied_hosts.length === 0) throw error;
    throw new ServiceError(error.code, error.message, [...error.details, { denied_hosts }], { cause: error });
  }
}
