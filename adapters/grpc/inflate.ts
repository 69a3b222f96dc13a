import type { Transform } from 'node:stream';
import { createGunzip, createInflate } from 'node:zlib';
import { ServiceError } from '../../lib/errors.ts';
import { BLOCK_BYTES } from '../received/block-memory.ts';
import { Blocks } from '../received/blocks.ts';
import { tooLarge } from './message-decoder.ts';

const INFLATERS = { gzip: createGunzip, deflate: createInflate } as const;

/** Bytes of an inflater of zlib, with the piece that it is writing and the one that it is reading. */
const INFLATER_BYTES = 65_536 + BLOCK_BYTES;

/**
 * Decompresses a message to at most `max` bytes, and takes what was read out of `content`. `held` is told the memory that both
 * take, and may throw to end it. The threat: a message of kilobytes becomes a thousand times as long; so it is measured while
 * it grows.
 */
export async function inflate(
  content: Blocks,
  encoding: string,
  { max, held }: { max: number; held: (bytes: number) => void },
): Promise<Buffer> {
  if (encoding !== 'gzip' && encoding !== 'deflate') {
    throw new ServiceError('UNIMPLEMENTED', 'grpc-encoding must be gzip, deflate or identity');
  }
  const inflater = INFLATERS[encoding]();
  const blocks = new Blocks();
  const account = () => held(INFLATER_BYTES + content.held + blocks.held);
  try {
    account();
    feed(inflater, content);
    for await (const piece of inflater as AsyncIterable<Buffer>) {
      if (blocks.size + piece.length > max) throw tooLarge(max);
      blocks.add(piece);
      account();
    }
    return await blocks.takeInTurns();
  } catch (error) {
    blocks.drop();
    if (error instanceof ServiceError) throw error;
    throw new ServiceError('INVALID_ARGUMENT', `a message must be valid ${encoding}`, [], { cause: error });
  } finally {
    inflater.destroy();
    content.drop();
  }
}

/** Writes block by block. One that is being read when the inflater ends is not given back: its thread may still read it. */
function feed(inflater: Transform, content: Blocks): void {
  const first = content.shift();
  if (first === undefined) return void inflater.end();
  inflater.write(first.bytes, (error) => {
    if (error) return;
    first.give();
    feed(inflater, content);
  });
}
