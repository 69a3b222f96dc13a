import { unclaimedBuffer } from '../../lib/recycled-buffers.ts';
import { MAX_REQUEST_BYTES } from '../listener.ts';

/** Prefix of a gRPC message: the compressed flag (one byte) and the message length (four bytes). */
const FRAME_BYTES = 5;
/** Bytes of a message from which on its buffer is used again. */
const LARGE = 65_536;

/**
 * Cuts the bytes of a client stream into messages with their frames, in the place of grpc-js' decoder. That one makes a new
 * buffer for each message: V8 counts it as memory that stays, and collects the whole heap after every few megabytes of an
 * upload. A message takes no memory before its bytes have arrived.
 */
export class MessageDecoder {
  readonly #max: number;
  readonly #frame = Buffer.alloc(FRAME_BYTES);
  #framed = 0;
  #parts: Buffer[] = [];
  #left = 0;

  constructor(max: number = MAX_REQUEST_BYTES) {
    this.#max = max;
  }

  /** Throws for a message that is too large; the stream cannot be decoded then. */
  write(data: Buffer): Buffer[] {
    const messages: Buffer[] = [];
    for (let at = 0; at < data.length; ) {
      if (this.#framed < FRAME_BYTES) at += this.#addToFrame(data, at);
      else at += this.#addToMessage(data, at);
      if (this.#framed === FRAME_BYTES && this.#left === 0) messages.push(this.#whole());
    }
    return messages;
  }

  #addToFrame(data: Buffer, from: number): number {
    const size = data.copy(this.#frame, this.#framed, from);
    this.#framed += size;
    if (this.#framed < FRAME_BYTES) return size;
    this.#left = this.#frame.readUInt32BE(1);
    if (this.#left > this.#max) throw new Error(`Received message larger than max (${this.#left} vs ${this.#max})`);
    return size;
  }

  #addToMessage(data: Buffer, from: number): number {
    const part = data.subarray(from, from + this.#left);
    this.#parts.push(part);
    this.#left -= part.length;
    return part.length;
  }

  #whole(): Buffer {
    const size = FRAME_BYTES + this.#frame.readUInt32BE(1);
    const whole = size < LARGE ? Buffer.allocUnsafe(size) : unclaimedBuffer(size);
    let at = this.#frame.copy(whole);
    for (const part of this.#parts) at += part.copy(whole, at);
    this.#parts = [];
    this.#framed = 0;
    return whole;
  }
}
