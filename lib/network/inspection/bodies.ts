import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { TurnTime } from '../../turn-time.ts';
import type { Replacer } from './replacer.ts';

/** A body of a known length up to this is completed before it is sent, so that its new length is known. In bytes. */
const SMALL = 64 * 1024;

/**
 * Milliseconds of one turn of the event loop for searches. The threat: a sandbox has many long secrets, and a server of its owner
 * answers without end; the thread that searches has the networks of all sandboxes.
 */
const searches = new TurnTime(4);

export interface Framing {
  /** The `content-length` of what is sent; undefined: chunked, or as the message has it. */
  length: number | undefined;
  /** Destroys `to` if it fails, and leaves the body as it is: its connection may still get an answer. */
  send(to: Writable): Promise<void>;
}

/** How a body is sent. `length`: its `content-length`; undefined: it has none. */
export async function framed(
  body: Readable,
  length: number | undefined,
  replacer: Replacer | undefined,
): Promise<Framing> {
  if (replacer === undefined || length === undefined || !replacer.changesLength || length > SMALL) {
    const stays = replacer?.changesLength !== true;
    return { length: stays ? length : undefined, send: (to) => pipeline(replaced(body, replacer), to) };
  }
  const chunks: Buffer[] = [];
  for await (const chunk of replaced(body, replacer)) chunks.push(chunk);
  const whole = Buffer.concat(chunks);
  return { length: whole.length, send: async (to) => void to.end(whole) };
}

async function* replaced(body: Readable, replacer: Replacer | undefined): AsyncGenerator<Buffer> {
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    const bytes = replacer === undefined ? (chunk as Buffer) : await searched(chunk as Buffer, replacer);
    // Nothing would end a chunked body.
    if (bytes.length > 0) yield bytes;
  }
  const last = replacer?.end();
  if (last?.length) yield last;
}

async function searched(chunk: Buffer, replacer: Replacer): Promise<Buffer> {
  const step = replacer.stepBytes;
  if (chunk.length <= step) return searches.run(() => replacer.push(chunk));
  const pieces: Buffer[] = [];
  for (let at = 0; at < chunk.length; at += step) {
    pieces.push(await searches.run(() => replacer.push(chunk.subarray(at, at + step))));
  }
  return Buffer.concat(pieces);
}
