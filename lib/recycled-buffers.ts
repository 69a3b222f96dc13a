/**
 * Buffers for output on its way, which are used again. The reason: V8 counts the memory of buffers, but not that they are
 * short-lived, and collects the whole heap after every 20 MB of new ones, which costs more than all copies.
 */
export const RECYCLED_BYTES = 65_536;

/** Buffers that are kept for later: 2 MiB. */
const MAX_SPARE = 32;

interface Lease {
  readonly buffer: Buffer;
  /** Views that are in use. */
  users: number;
}

/** Larger buffers are kept up to this size, and so many bytes of them together. */
const MAX_LARGE = 4_194_304 + RECYCLED_BYTES;
const MAX_SPARE_LARGE = 8_388_608;

const spare: Buffer[] = [];
const spareLarge: Buffer[] = [];
const leases = new WeakMap<Uint8Array, Lease>();
/** By the memory of buffers whose user is not known yet. */
const unclaimed = new WeakMap<ArrayBufferLike, Lease>();

/** A buffer of RECYCLED_BYTES with any content. One that is never given back is left to the garbage collector. */
export function recycledBuffer(): Buffer {
  const buffer = spare.pop() ?? Buffer.allocUnsafeSlow(RECYCLED_BYTES);
  // An object of its own for each use: who still has that of an earlier one cannot give this one back.
  const view = buffer.subarray();
  leases.set(view, { buffer, users: 1 });
  return view;
}

/** As `recycledBuffer`, of a larger size. */
export function largeBuffer(size: number): Buffer {
  const view = unclaimedBuffer(size);
  claim(view);
  return view;
}

/** A part of `data` that is given back by itself: the buffer is not used again before. `data` may be any buffer. */
export function sharedView(data: Buffer, from: number, to: number): Buffer {
  const view = data.subarray(from, to);
  const lease = leases.get(data);
  if (lease !== undefined) {
    lease.users++;
    leases.set(view, lease);
  }
  return view;
}

/**
 * The caller does not read `data` any more, nor does anybody to whom it gave this object. Nothing happens for other
 * buffers, and at a second call.
 */
export function giveBack(data: Uint8Array): void {
  const lease = leases.get(data);
  if (lease === undefined) return;
  leases.delete(data);
  if (--lease.users > 0) return;
  if (lease.buffer.length !== RECYCLED_BYTES) keepLarge(lease.buffer);
  else if (spare.length < MAX_SPARE) spare.push(lease.buffer);
}

/** A buffer of this size with any content, for bytes of which the user will have a part. It is nobody's before `claim`. */
export function unclaimedBuffer(size: number): Buffer {
  const fitting = spareLarge.findLastIndex(({ length }) => length >= size && 2 * length <= 3 * size);
  const [kept] = fitting < 0 ? [] : spareLarge.splice(fitting, 1);
  const buffer = kept ?? Buffer.allocUnsafeSlow(size);
  if (size > RECYCLED_BYTES && size <= MAX_LARGE) unclaimed.set(buffer.buffer, { buffer, users: 1 });
  return buffer.subarray(0, size);
}

/**
 * `view` is all that is used of an unclaimed buffer, which `giveBack(view)` gives back. Nothing happens for other buffers, and
 * at a second call.
 */
export function claim(view: Uint8Array): void {
  const lease = unclaimed.get(view.buffer);
  if (lease === undefined) return;
  unclaimed.delete(view.buffer);
  leases.set(view, lease);
}

/** The oldest ones leave. */
function keepLarge(buffer: Buffer): void {
  spareLarge.push(buffer);
  let bytes = spareLarge.reduce((sum, { length }) => sum + length, 0);
  while (bytes > MAX_SPARE_LARGE) bytes -= spareLarge.shift()!.length;
}
