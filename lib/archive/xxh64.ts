/** The primes of XXH64. */
const P1 = 0x9e3779b185ebca87n;
const P2 = 0xc2b2ae3d27d4eb4fn;
const P3 = 0x165667b19e3779f9n;
const P4 = 0x85ebca77c2b2ae63n;
const P5 = 0x27d4eb2f165667c5n;
const MASK = 0xffffffffffffffffn;
const STRIPE = 32;
const LANE = 8;
/** Shift that reads the upper half. */
const HALF = 32n;

const low = (value: bigint) => Number(value & 0xffffffffn) | 0;
const high = (value: bigint) => Number(value >> HALF) | 0;
const [P1_LOW, P1_HIGH, P2_LOW, P2_HIGH] = [low(P1), high(P1), low(P2), high(P2)];
const START = [P1 + P2, P2, 0n, -P1].map((value) => value & MASK).flatMap((value) => [low(value), high(value)]);

/** The hash that zstd frames end with (XXH64, seed 0), of bytes that come in pieces. */
export class Xxh64 {
  /** The four accumulators, each as its lower and its upper half: BigInt would be ten times slower. */
  readonly #lanes = Int32Array.from(START);
  readonly #rest = Buffer.alloc(STRIPE);
  #held = 0;
  #total = 0;

  update(bytes: Uint8Array): void {
    this.#total += bytes.length;
    let at = 0;
    if (this.#held > 0) {
      at = Math.min(STRIPE - this.#held, bytes.length);
      this.#rest.set(bytes.subarray(0, at), this.#held);
      this.#held += at;
      if (this.#held < STRIPE) return;
      this.#stripes(this.#rest, 0, STRIPE);
    }
    const end = at + (bytes.length - at - ((bytes.length - at) % STRIPE));
    this.#stripes(bytes, at, end);
    this.#rest.set(bytes.subarray(end));
    this.#held = bytes.length - end;
  }

  /** The lower half of the hash, which is what a frame has. */
  digest(): number {
    let hash = this.#total < STRIPE ? P5 : this.#merged();
    hash = (hash + BigInt(this.#total)) & MASK;
    let at = 0;
    for (; at + LANE <= this.#held; at += LANE)
      hash = times(rotated(hash ^ round(0n, this.#rest.readBigUInt64LE(at)), 27n), P1) + P4;
    for (; at + 4 <= this.#held; at += 4)
      hash = times(rotated((hash ^ times(BigInt(this.#rest.readUInt32LE(at)), P1)) & MASK, 23n), P2) + P3;
    for (; at < this.#held; at++) hash = times(rotated((hash ^ times(BigInt(this.#rest[at]!), P5)) & MASK, 11n), P1);
    hash &= MASK;
    hash = times(hash ^ (hash >> 33n), P2);
    hash = times(hash ^ (hash >> 29n), P3);
    return Number((hash ^ (hash >> HALF)) & 0xffffffffn);
  }

  #merged(): bigint {
    const lanes = [0, 2, 4, 6].map((at) => {
      const [lower, upper] = [this.#lanes[at]!, this.#lanes[at + 1]!];
      return (BigInt(upper >>> 0) << HALF) | BigInt(lower >>> 0);
    });
    let hash = 0n;
    for (const [index, shift] of [1n, 7n, 12n, 18n].entries()) hash += rotated(lanes[index]!, shift);
    for (const lane of lanes) hash = times(hash ^ round(0n, lane), P1) + P4;
    return hash & MASK;
  }

  /** accumulator = rotated(accumulator + lane * P2, 31) * P1, for each lane of each stripe, in 32-bit arithmetic. */
  #stripes(bytes: Uint8Array, from: number, end: number): void {
    const lanes = this.#lanes;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = from; at < end; at += LANE) {
      const lane = ((at - from) & (STRIPE - 1)) >> 2;
      const lower = view.getInt32(at, true);
      const upper = view.getInt32(at + 4, true);
      const added = Math.imul(lower, P2_LOW);
      const sumLower = (lanes[lane]! + added) | 0;
      const carry = sumLower >>> 0 < added >>> 0 ? 1 : 0;
      const product = (upperOf(lower, P2_LOW) + Math.imul(upper, P2_LOW) + Math.imul(lower, P2_HIGH)) | 0;
      const sumUpper = (lanes[lane + 1]! + product + carry) | 0;
      const turnedLower = (sumLower << 31) | (sumUpper >>> 1);
      const turnedUpper = (sumUpper << 31) | (sumLower >>> 1);
      lanes[lane] = Math.imul(turnedLower, P1_LOW);
      lanes[lane + 1] =
        (upperOf(turnedLower, P1_LOW) + Math.imul(turnedUpper, P1_LOW) + Math.imul(turnedLower, P1_HIGH)) | 0;
    }
  }
}

/** The upper half of the product of two unsigned numbers of 32 bits. */
function upperOf(a: number, b: number): number {
  const a0 = a & 0xffff;
  const a1 = a >>> 16;
  const b0 = b & 0xffff;
  const b1 = b >>> 16;
  const first = (Math.imul(a1, b0) + (Math.imul(a0, b0) >>> 16)) | 0;
  const second = (Math.imul(a0, b1) + (first & 0xffff)) | 0;
  return (Math.imul(a1, b1) + (first >>> 16) + (second >>> 16)) | 0;
}

function times(a: bigint, b: bigint): bigint {
  return (a * b) & MASK;
}

/** Also of sums that exceed 64 bits. */
function rotated(value: bigint, by: bigint): bigint {
  const whole = value & MASK;
  return ((whole << by) | (whole >> (64n - by))) & MASK;
}

function round(accumulator: bigint, lane: bigint): bigint {
  return times(rotated(accumulator + times(lane, P2), 31n), P1);
}
