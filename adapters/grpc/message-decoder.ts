import { ServiceError } from '../../lib/errors.ts';
import { MAX_REQUEST_BYTES } from '../listener.ts';
import { Blocks } from '../received/blocks.ts';

/** Prefix of a gRPC message: the compressed flag (one byte) and the message length (four bytes). */
const FRAME_BYTES = 5;
const COMPRESSED = 1;

/** A message with its frame. A compressed one is its frame only, and has its content in `compressed`. */
export interface Arrived {
  message: Buffer;
  compressed: Blocks | undefined;
}

/**
 * Cuts the bytes of a stream into messages with their frames, in the place of grpc-js' decoder. That one makes a new
 * buffer for each message: V8 counts it as memory that stays, and collects the whole heap after every few megabytes of an
 * upload. A message takes no memory before its bytes have arrived.
 */
export class MessageDecoder {
  readonly #max: number;
  readonly #frame = Buffer.alloc(FRAME_BYTES);
  #content = new Blocks();
  #framed = 0;
  #left = 0;

  constructor(max: number = MAX_REQUEST_BYTES) {
    this.#max = max;
  }

  /** Bytes of memory of the message that has not arrived completely. */
  get held(): number {
    return this.#content.held;
  }

  /** Bytes of the message that has not arrived completely; 0: none has begun. */
  get begun(): number {
    return this.#framed + this.#content.size;
  }

  /** Throws INVALID_ARGUMENT for a message that is too large; the stream cannot be decoded then. */
  write(data: Buffer): Arrived[] {
    const messages: Arrived[] = [];
    for (let at = 0; at < data.length; ) {
      if (this.#framed < FRAME_BYTES) at += this.#addToFrame(data, at);
      else at += this.#addToMessage(data, at);
      if (this.#framed === FRAME_BYTES && this.#left === 0) messages.push(this.#whole());
    }
    return messages;
  }

  drop(): void {
    this.#content.drop();
  }

  #addToFrame(data: Buffer, from: number): number {
    const size = data.copy(this.#frame, this.#framed, from);
    this.#framed += size;
    if (this.#framed < FRAME_BYTES) return size;
    this.#left = this.#frame.readUInt32BE(1);
    if (this.#left > this.#max) throw tooLarge(this.#max);
    return size;
  }

  #addToMessage(data: Buffer, from: number): number {
    const part = data.subarray(from, from + this.#left);
    this.#content.add(part, this.#content.size + this.#left);
    this.#left -= part.length;
    return part.length;
  }

  #whole(): Arrived {
    this.#framed = 0;
    if (this.#frame[0] !== COMPRESSED) return { message: this.#content.take(this.#frame), compressed: undefined };
    const compressed = this.#content;
    this.#content = new Blocks();
    return { message: Buffer.from(this.#frame), compressed };
  }
}

export function tooLarge(max: number): ServiceError {
  return new ServiceError('INVALID_ARGUMENT', `a message must have at most ${max} bytes`);
}
