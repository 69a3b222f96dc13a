import type { ExecStreamChunk } from '../../lib/contract/messages.ts';
import { invalidArgument } from '../../lib/errors.ts';
import { exitReason } from '../../lib/exit-reason.ts';
import type { Execution } from '../../lib/runtime/runtime.ts';
import { messagePieces } from './data-messages.ts';

/** `failed` returns the error to throw. `last`: further fields of the last chunk. */
export async function* chunks(
  execution: Execution,
  failed: (error: unknown) => Promise<unknown>,
  last: () => Partial<ExecStreamChunk> = () => ({}),
): AsyncGenerator<ExecStreamChunk, void, void> {
  try {
    for await (const event of execution) {
      if (event.kind === 'exit') {
        yield {
          data: EMPTY.data,
          stream: EMPTY.stream,
          exit_code: event.exitCode,
          duration_ms: event.durationMs,
          end_reason: exitReason(event).reason,
          ...(event.denied && { denied: { hosts: event.denied } }),
          ...last(),
        };
        return;
      }
      for (const data of messagePieces(event.data)) yield { ...EMPTY, data, stream: event.stream };
    }
  } catch (error) {
    throw await failed(error);
  }
  throw new Error('the execution ended without an exit event');
}

const EMPTY = { data: new Uint8Array(0), stream: 'STDOUT', duration_ms: 0 } as const satisfies ExecStreamChunk;

/** Shows that the command still runs. */
export const KEEPALIVE_CHUNK: ExecStreamChunk = { ...EMPTY, keepalive: true };

export const unlimitedStream = () => invalidArgument('max_output', 'must be 0 for a stream, which has all output');
