/** Bytes of a block. */
export const BLOCK_BYTES = 65_536;
/** Blocks that keep their memory for the next message: 2 MiB. */
const MAX_SPARE = 32;

/** In ECMAScript 2024, and in every supported release of Node. */
interface Resizable extends ArrayBuffer {
  resize(length: number): void;
}
type ResizableConstructor = new (length: number, options: { maxByteLength: number }) => Resizable;

/** With memory. */
const spare: Uint8Array[] = [];
/** Without memory: only their addresses are reserved. As many as were in use at once. */
const empty: Resizable[] = [];

/**
 * A block with any content. Its memory is not that of other buffers: it goes back to the system when the block is given back,
 * and not after a garbage collection, which may be hours later, nor does it leave holes among other allocations.
 */
export function takeBlock(): Uint8Array {
  const block = spare.pop();
  if (block !== undefined) return block;
  const memory = empty.pop() ?? new (ArrayBuffer as unknown as ResizableConstructor)(0, { maxByteLength: BLOCK_BYTES });
  memory.resize(BLOCK_BYTES);
  return new Uint8Array(memory, 0, BLOCK_BYTES);
}

/** Nobody may use the block any more. */
export function giveBlock(block: Uint8Array): void {
  if (spare.length < MAX_SPARE) {
    spare.push(block);
    return;
  }
  const memory = block.buffer as Resizable;
  memory.resize(0);
  empty.push(memory);
}
