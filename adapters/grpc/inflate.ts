import { createGunzip, createInflate } from 'node:zlib';
import { ServiceError } from '../../lib/errors.ts';
import { Blocks } from '../received/blocks.ts';
import { tooLarge } from './message-decoder.ts';

const INFLATERS = { gzip: createGunzip, deflate: createInflate } as const;

/** Bytes of an inflater of zlib, with the piece that it is writing. */
const INFLATER_BYTES = 65_536;

/**
 * Decompresses a message of at most `max` bytes. `held` is told the memory that it takes, and may throw to end it. The threat:
 * a message of kilobytes becomes a thousand times as long; so it is measured while it grows.
 */
export async function inflate(
  content: Buffer,
  encoding: string,
  { max, held }: { max: number; held: (bytes: number) => void },
): Promise<Buffer> {
  if (encoding !== 'gzip' && encoding !== 'deflate') {
    throw new ServiceError('UNIMPLEMENTED', 'grpc-encoding must be gzip, deflate or identity');
  }
  const inflater = INFLATERS[encoding]();
  const blocks = new Blocks();
  held(INFLATER_BYTES);
  inflater.end(content);
  try {
    for await (const piece of inflater as AsyncIterable<Buffer>) {
      if (blocks.size + piece.length > max) throw tooLarge(max);
      blocks.add(piece);
      held(INFLATER_BYTES + blocks.held);
    }
    return blocks.take();
  } catch (error) {
    blocks.drop();
    if (error instanceof ServiceError) throw error;
    throw new ServiceError('INVALID_ARGUMENT', `a message must be valid ${encoding}`, [], { cause: error });
  }
}
