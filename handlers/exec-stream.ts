import type { ExecStreamChunk } from '../lib/contract/messages.ts';
import { ExecMemory } from '../lib/exec-memory.ts';
import type { Execution } from '../lib/runtime/runtime.ts';
import { command, define, messagePieces } from './define.ts';

/**
 * The command has started when this resolves, so that a refusal is sent as a status; it runs at the pace of the reader.
 */
export const execStream = define('ExecStream', command, async ({ request }, { services, signal, answered }) => {
  const memory = new ExecMemory(services.limits?.execMemory, request.sandbox_id);
  answered?.(() => memory.release());
  try {
    memory.holdInput(request.stdin);
    return chunks(await services.sandboxes.exec(request, signal));
  } finally {
    if (!answered) memory.release();
  }
});

async function* chunks(execution: Execution): AsyncGenerator<ExecStreamChunk, void, void> {
  for await (const event of execution) {
    if (event.kind === 'exit') {
      yield { data: new Uint8Array(0), stream: 'STDOUT', exit_code: event.exitCode, duration_ms: event.durationMs };
      return;
    }
    for (const data of messagePieces(event.data)) yield { data, stream: event.stream, duration_ms: 0 };
  }
  throw new Error('the execution ended without an exit event');
}
