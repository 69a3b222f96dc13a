import type { CommandEvent, Execution } from '../../runtime/runtime.ts';
import type { LiveSandbox } from '../sandbox.ts';
import type { RefusalLog } from './refusal-log.ts';

/** The events of a command that started at a time in milliseconds; the last one has what was refused since. */
export function withDenied(execution: Execution, { refusals }: LiveSandbox, startedAt: number): Execution {
  return refusals === undefined ? execution : reporting(execution, refusals, startedAt);
}

async function* reporting(execution: Execution, refusals: RefusalLog, startedAt: number): AsyncGenerator<CommandEvent> {
  for await (const event of execution) {
    if (event.kind !== 'exit') {
      yield event;
      continue;
    }
    const denied = await refusals.since(startedAt);
    yield denied.length === 0 ? event : { ...event, denied };
  }
}
