import { invalidArchive } from './invalid-archive.ts';

export const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd] as const;

/** The largest window that a decoder must support by RFC 8878, section 3.1.1.1.2; that of `zstd -19`. */
const MAX_WINDOW = 8 << 20;
const MAX_BLOCK = 128 << 10;
const BLOCK_HEADER = 3;
const SKIPPABLE_HEADER = 8;

type Part = 'frame' | 'block' | 'body' | 'checksum';

/**
 * Cuts zstd data after each block (RFC 8878), and checks what would make a decoder allocate memory: the window of each
 * frame and the size of each block. Throws INVALID_ARGUMENT for other data.
 */
export class ZstdBlocks {
  #part: Part = 'frame';
  /** First bytes of a header that came in several pieces. */
  #header: number[] = [];
  #headerLength = 5;
  #left = 0;
  #isLast = false;
  #hasChecksum = false;

  /** The pieces, each to be decoded at once: together they are `bytes`. */
  *cut(bytes: Buffer): Generator<Buffer, void, void> {
    let from = 0;
    for (let at = 0; at < bytes.length; ) {
      if (this.#part === 'body' || this.#part === 'checksum') {
        const taken = Math.min(this.#left, bytes.length - at);
        at += taken;
        this.#left -= taken;
        if (this.#left > 0) continue;
        this.#bodyEnds();
        yield bytes.subarray(from, at);
        from = at;
        continue;
      }
      this.#header.push(bytes[at++]!);
      if (this.#header.length < this.#headerLength) continue;
      if (this.#part === 'block') this.#block();
      else this.#frame();
    }
    if (from < bytes.length) yield bytes.subarray(from);
  }

  #bodyEnds(): void {
    if (this.#part === 'body' && this.#isLast && this.#hasChecksum) this.#body('checksum', 4);
    else if (this.#part === 'checksum' || this.#isLast) this.#expect('frame', 5);
    else this.#expect('block', BLOCK_HEADER);
  }

  #frame(): void {
    const header = this.#header;
    const isSkippable = (header[0]! & 0xf0) === 0x50 && header[1] === 0x2a && header[2] === 0x4d && header[3] === 0x18;
    if (isSkippable) {
      if (header.length < SKIPPABLE_HEADER) this.#headerLength = SKIPPABLE_HEADER;
      else this.#skip(Buffer.from(header).readUInt32LE(4));
      return;
    }
    if (ZSTD_MAGIC.some((byte, at) => header[at] !== byte)) throw damaged();
    const flags = header[4]!;
    const isSingle = (flags & 0x20) !== 0;
    const dictionary = [0, 1, 2, 4][flags & 3]!;
    const sizeBytes = flags >> 6 === 0 ? (isSingle ? 1 : 0) : 1 << (flags >> 6);
    const whole = 5 + (isSingle ? 0 : 1) + dictionary + sizeBytes;
    if (header.length < whole) {
      this.#headerLength = whole;
      return;
    }
    const window = isSingle
      ? littleEndian(header.slice(whole - sizeBytes)) + (sizeBytes === 2 ? 256 : 0)
      : windowOf(header[5]!);
    if (window > MAX_WINDOW) {
      throw invalidArchive(`its zstd data needs a window of ${window} bytes, the most is ${MAX_WINDOW} (zstd -19)`);
    }
    this.#hasChecksum = (flags & 4) !== 0;
    this.#expect('block', BLOCK_HEADER);
  }

  #skip(length: number): void {
    this.#isLast = true;
    this.#hasChecksum = false;
    if (length === 0) this.#expect('frame', 5);
    else this.#body('body', length);
  }

  #block(): void {
    const header = littleEndian(this.#header);
    const type = (header >> 1) & 3;
    const size = header >> 3;
    if (type === 3 || size > MAX_BLOCK) throw damaged();
    this.#isLast = (header & 1) !== 0;
    const length = type === 1 ? 1 : size;
    this.#body('body', length);
    if (length === 0) this.#bodyEnds();
  }

  #body(part: 'body' | 'checksum', bytes: number): void {
    this.#part = part;
    this.#left = bytes;
    this.#header = [];
  }

  #expect(part: 'frame' | 'block', length: number): void {
    this.#part = part;
    this.#header = [];
    this.#headerLength = length;
  }
}

function windowOf(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

function littleEndian(bytes: readonly number[]): number {
  return bytes.reduceRight((value, byte) => value * 256 + byte, 0);
}

function damaged(): Error {
  return invalidArchive('its zstd data is damaged');
}
