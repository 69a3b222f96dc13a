import type { ExecStreamChunk } from '../lib/contract/messages.ts';
import { ExecMemory } from '../lib/exec-memory.ts';
import { exitReason } from '../lib/exit-reason.ts';
import type { Execution } from '../lib/runtime/runtime.ts';
import { define, execCommand, KEEPALIVE_MS, keptAlive, messagePieces } from './define.ts';

/**
 * The command has started when this resolves, so that a refusal is sent as a status; it runs at the pace of the reader.
 */
export const execStream = define('ExecStream', execCommand, async ({ request }, { services, signal, answered }) => {
  const memory = new ExecMemory(services.limits?.execMemory, request.sandbox_id);
  answered?.(() => memory.release());
  try {
    memory.holdInput(request.stdin.length + request.stdin_bytes.length);
    const output = chunks(await services.sandboxes.exec(request, signal));
    const ms = services.keepaliveMs ?? KEEPALIVE_MS;
    return request.keepalive ? keptAlive(output, ms, () => ({ ...EMPTY, keepalive: true })) : output;
  } finally {
    if (!answered) memory.release();
  }
});

async function* chunks(execution: Execution): AsyncGenerator<ExecStreamChunk, void, void> {
  for await (const event of execution) {
    if (event.kind === 'exit') {
      yield {
        ...EMPTY,
        exit_code: event.exitCode,
        duration_ms: event.durationMs,
        end_reason: exitReason(event).reason,
      };
      return;
    }
    for (const data of messagePieces(event.data)) yield { ...EMPTY, data, stream: event.stream };
  }
  throw new Error('the execution ended without an exit event');
}

const EMPTY = {
  data: new Uint8Array(0),
  stream: 'STDOUT',
  duration_ms: 0,
  end_reason: '',
  keepalive: false,
} as const satisfies ExecStreamChunk;
