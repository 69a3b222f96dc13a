import type { ProcessEvent } from '../../lib/contract/messages.ts';
import { type Code, ServiceError } from '../../lib/errors.ts';
import { errorFor } from '../listener.ts';
import { errorBody } from './answer.ts';
import { FrameError, readFrame } from './attach/frames.ts';
import { accept, cutWhenAborted, requireHandshake } from './attach/handshake.ts';
import { OutputFrames } from './attach/output.ts';
import { Peer } from './attach/peer.ts';
import { attachQuery } from './attach/query.ts';
import type { Exchange } from './exchange.ts';

/**
 * Carries an attach over a WebSocket. An error before the first message of the output is sent as a status, like that of
 * any other request; a later one is an `error` frame and a close code.
 */
export async function respondAttach(exchange: Exchange<'attach'>): Promise<void> {
  const { req, res, head, operation, event, context, log } = exchange;
  if (!requireHandshake(req, res, head)) return;
  const { query, pty } = attachQuery(event.queryStringParameters ?? {});
  let open: (peer: Peer | undefined) => void = () => {};
  const opened = new Promise<Peer | undefined>((resolve) => {
    open = resolve;
  });
  const stream = inputOf(opened);
  const output = await operation.handler({ ...event, queryStringParameters: query, stream }, context);
  const messages = output[Symbol.asyncIterator]() as AsyncIterator<ProcessEvent>;
  const first = await messages.next();
  let peer: Peer | undefined;
  try {
    requireMode(pty, first.value?.attached?.terminal);
    peer = new Peer(await accept(req, res, head), { received: exchange.received, arriving: req.socket });
    cutWhenAborted(peer, context.signal);
  } finally {
    open(peer);
    if (peer === undefined) await messages.return?.();
  }
  try {
    await sendAll(peer, first, messages);
    peer.close(1000, 'the process has ended');
  } catch (thrown) {
    const error = errorFor(thrown, { ...context, operation: operation.operation, log });
    const body = errorBody(error);
    await peer.send(JSON.stringify({ type: 'error', ...body }));
    peer.close(closeCodeOf(error), body.message);
  }
  await peer.closed;
}

/** OpenSandbox's parameter chooses the mode; here the process has it from its start. */
function requireMode(pty: boolean | undefined, terminal: boolean | undefined): void {
  if (pty === undefined || terminal === undefined || pty === terminal) return;
  const has = terminal ? 'has a terminal' : 'has no terminal';
  throw new ServiceError('FAILED_PRECONDITION', `pty must be ${terminal ? 1 : 0}, or absent: the process ${has}`);
}

/** The client's frames as messages of the request's type. */
async function* inputOf(opened: Promise<Peer | undefined>): AsyncGenerator<object, void, void> {
  const peer = await opened;
  for await (const { data, isBinary } of peer?.messages ?? []) {
    const frame = readFrame(data, isBinary);
    if (frame === 'ping') peer?.sendIfRead('{"type":"pong"}');
    else yield frame.input;
  }
}

async function sendAll(
  peer: Peer,
  first: IteratorResult<ProcessEvent>,
  messages: AsyncIterator<ProcessEvent>,
): Promise<void> {
  const frames = new OutputFrames();
  for (let next = first; !next.done; next = await messages.next()) {
    const frame = frames.next(next.value);
    // The next message is produced when this one was sent: a slow client reads the log at its own position.
    if (frame !== undefined) await peer.send(frame);
    if (!peer.isOpen) {
      await messages.return?.();
      return;
    }
  }
}

const CLOSE_CODES: { readonly [C in Code]?: number } = {
  // Another client took over the input.
  ABORTED: 4001,
  UNAVAILABLE: 1001,
  RESOURCE_EXHAUSTED: 1013,
  INTERNAL: 1011,
};

function closeCodeOf(error: ServiceError): number {
  return error instanceof FrameError ? error.closeCode : (CLOSE_CODES[error.code] ?? 1008);
}
