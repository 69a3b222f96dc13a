import { setImmediate as nextTurn } from 'node:timers/promises';
import { unclaimedBuffer } from '../../lib/recycled-buffers.ts';
import type { Turns } from '../../lib/turns.ts';
import { BLOCK_BYTES, giveBlock, takeBlock } from './block-memory.ts';

/** Bytes that are copied in one turn of the event loop: a millisecond, with the page faults of new memory. */
const TURN_BYTES = 1_048_576;
/** Bytes of a message that gets no block. */
const SMALL = 8192;

/**
 * Bytes of a message that is being received, in blocks. The threat: a piece of one byte keeps the buffer of all that was
 * read from the connection with it, or an object that is larger than the byte; so every piece is copied. Memory is taken as
 * bytes arrive, whatever length is announced.
 */
export class Blocks {
  #full: Uint8Array[] = [];
  #last: Uint8Array | undefined;
  #used = 0;
  #size = 0;

  /** Bytes that were added. */
  get size(): number {
    return this.#size;
  }

  /** Bytes of memory. */
  get held(): number {
    return this.#full.length * BLOCK_BYTES + (this.#last?.length ?? 0);
  }

  /** `expected`: bytes of the whole message, as far as it is known; a small one gets no block. */
  add(data: Uint8Array, expected: number = BLOCK_BYTES): void {
    for (let at = 0; at < data.length; ) {
      this.#last ??= expected <= SMALL ? Buffer.allocUnsafe(expected) : takeBlock();
      const piece = data.subarray(at, at + this.#last.length - this.#used);
      this.#last.set(piece, this.#used);
      this.#used += piece.length;
      at += piece.length;
      if (this.#used === this.#last.length) this.#next();
    }
    this.#size += data.length;
  }

  /** All bytes, with `head` in front of them. Nothing is left. */
  take(head: Uint8Array = new Uint8Array(0)): Buffer {
    const whole = memoryFor(head.length + this.#size);
    whole.set(head);
    for (const _ of this.#moveTo(whole, head.length));
    return whole;
  }

  /** The same, in turns of the event loop. Nothing may be added meanwhile; what is dropped meanwhile is missing. */
  async takeInTurns(): Promise<Buffer> {
    const whole = memoryFor(this.#size);
    await this.#moveInTurns(whole, nextTurn);
    return whole;
  }

  /** The same, in memory that another thread uses without a copy. */
  async takeShared(turns: Pick<Turns, 'next'>): Promise<Uint8Array> {
    const whole = new Uint8Array(new SharedArrayBuffer(this.#size));
    await this.#moveInTurns(whole, () => turns.next());
    return whole;
  }

  async #moveInTurns(whole: Uint8Array, next: () => Promise<unknown>): Promise<void> {
    let moved = 0;
    for (const bytes of this.#moveTo(whole, 0)) {
      moved += bytes;
      if (moved < TURN_BYTES) continue;
      moved = 0;
      await next();
    }
  }

  /** Gives each block back when it was copied. */
  *#moveTo(whole: Uint8Array, from: number): Generator<number, void, void> {
    let at = from;
    for (let first = this.shift(); first !== undefined; first = this.shift()) {
      // A block that was given back has no length any more.
      const { length } = first.bytes;
      whole.set(first.bytes, at);
      at += length;
      first.give();
      yield length;
    }
  }

  /** The first bytes, which are not held here any more. `give`: nobody reads them any more. */
  shift(): { bytes: Uint8Array; give: () => void } | undefined {
    const block = this.#full.shift();
    const [memory, bytes] = block === undefined ? [this.#last, this.#last?.subarray(0, this.#used)] : [block, block];
    if (memory === undefined || bytes === undefined) return undefined;
    if (block === undefined) {
      this.#last = undefined;
      this.#used = 0;
    }
    this.#size -= bytes.length;
    return { bytes, give: () => giveBack(memory) };
  }

  drop(): void {
    for (const block of this.#full) giveBack(block);
    if (this.#last !== undefined) giveBack(this.#last);
    this.#clear();
  }

  #clear(): void {
    this.#full = [];
    this.#last = undefined;
    this.#used = 0;
    this.#size = 0;
  }

  #next(): void {
    this.#full.push(this.#last!);
    this.#last = undefined;
    this.#used = 0;
  }
}

function memoryFor(size: number): Buffer {
  return size < BLOCK_BYTES ? Buffer.allocUnsafe(size) : unclaimedBuffer(size);
}

/** Others than blocks are left to the garbage collector. */
function giveBack(block: Uint8Array): void {
  if (block.length === BLOCK_BYTES) giveBlock(block);
}
