import type { WriteProcessInputRequest } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import type { SandboxContext } from '../context.ts';
import { processesOf } from './read-output.ts';

/** Bytes that are written at once: as many may still be written after the call has ended. */
const PIECE_BYTES = 65_536;
const NOTHING = new Uint8Array(0);

/**
 * See `Processes.write`. The threat: callers that send input which the process does not read, and leave. The call ends
 * with its signal, and what waits for its turn is not held any longer.
 */
export async function writeInput(
  { sandbox_id, process_id, offset, end }: Omit<WriteProcessInputRequest, 'chunk'>,
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  context: SandboxContext,
): Promise<{ input_next: number }> {
  const process = (await processesOf(sandbox_id, context)).get(process_id);
  let at = offset;
  for await (const chunk of content) {
    for (const piece of pieces(chunk)) {
      await unlessAborted(process.write(piece, at, signal), signal);
      if (at !== undefined) at += piece.length;
    }
  }
  // Also without content: an end that comes before the bytes that precede it would cut the input.
  await unlessAborted(process.write(NOTHING, at, signal), signal);
  if (end) await unlessAborted(process.endInput(), signal);
  return { input_next: process.inputNext };
}

/** Pieces of a large chunk are copies, so that one of them does not hold the memory of all. */
function* pieces(chunk: Uint8Array): Generator<Uint8Array, void, void> {
  for (let from = 0; from < chunk.length; from += PIECE_BYTES) {
    const to = from + PIECE_BYTES;
    yield chunk.length > 4 * PIECE_BYTES ? chunk.slice(from, to) : chunk.subarray(from, to);
  }
}

/** Rejects with CANCELLED as soon as the signal aborts. */
function unlessAborted(writing: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(new ServiceError('CANCELLED', 'the client disconnected'));
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    writing.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
