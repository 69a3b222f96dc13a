import { type Readable, Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Replacer } from './replacer.ts';

/** A body of a known length up to this is completed before it is sent, so that its new length is known. */
const SMALL = 1024 * 1024;

export interface Framing {
  /** The `content-length` of what is sent; undefined: chunked, or as the message has it. */
  length: number | undefined;
  send(to: Writable): Promise<void>;
}

/** How a body with replacements is sent. `length`: its `content-length`; undefined: it has none. */
export async function framed(body: Readable, length: number | undefined, replacer: Replacer): Promise<Framing> {
  if (length === undefined || !replacer.changesLength || length > SMALL) {
    const stays = length !== undefined && !replacer.changesLength;
    return { length: stays ? length : undefined, send: (to) => pipeline(body, replacing(replacer), to) };
  }
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  const whole = replacer.whole(Buffer.concat(chunks));
  return { length: whole.length, send: async (to) => void to.end(whole) };
}

function replacing(replacer: Replacer): Transform {
  return new Transform({
    transform(chunk: Buffer, _, done) {
      try {
        done(null, replacer.push(chunk));
      } catch (error) {
        done(error as Error);
      }
    },
    flush(done) {
      done(null, replacer.end());
    },
  });
}
