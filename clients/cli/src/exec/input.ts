import { type Api, ConnectionFailedError, FailedPreconditionError, NotFoundError, type Process } from 'paddock-sandbox';
import { coalesced } from './coalesced.ts';
import { Reconnect } from './reconnect.ts';

interface Options {
  /** Bytes of the input that the process had before. */
  offset?: number;
  signal: AbortSignal;
}

/**
 * Sends what is read to the standard input of a process, at the pace at which it reads: the next piece is read once the
 * one before was taken. The offset of each piece lets a call be repeated whose answer was lost.
 */
export async function sendInput(
  api: Api,
  { sandboxId, id }: Process,
  source: AsyncIterable<Uint8Array>,
  { offset = 0, signal }: Options,
): Promise<void> {
  let at = offset;
  const send = async (bytes: Uint8Array, end: boolean) => {
    const request = { sandboxId, processId: id, offset: at, end };
    const reconnect = new Reconnect(signal);
    for (;;) {
      try {
        await api.writeProcessInput(request, bytes, { signal, repeatable: true });
        break;
      } catch (error) {
        // Also a process that does not read for minutes: the answer takes too long.
        if (!(error instanceof ConnectionFailedError)) throw error;
        await reconnect.wait(error);
      }
    }
    at += bytes.length;
  };
  try {
    for await (const bytes of coalesced(source)) await send(bytes, false);
    await send(new Uint8Array(0), true);
  } catch (error) {
    // It has ended, or has closed its input: what is left has no reader.
    if (!(error instanceof FailedPreconditionError || error instanceof NotFoundError)) throw error;
  }
}
