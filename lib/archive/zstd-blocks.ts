import { invalidArchive } from './invalid-archive.ts';

const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd] as const;

/** The largest window that a decoder must support by RFC 8878, section 3.1.1.1.2; that of `zstd -19`. */
const MAX_WINDOW = 8 << 20;
const MAX_BLOCK = 128 << 10;
/** Bytes of a frame's header with the first that tells its length. */
const FRAME_HEADER = 5;
const BLOCK_HEADER = 3;
const SKIPPABLE_HEADER = 8;
const CHECKSUM = 4;

type Part = 'frame' | 'skipped' | 'block' | 'body' | 'checksum';

/** Bytes of one frame. */
export interface ZstdPiece {
  bytes: Buffer;
  /** The last of the frame, with the checksum of the frame's content if it has one. */
  ends: { checksum: number | undefined } | undefined;
}

/** Whether these first bytes are those of a frame, or of a skippable one, as `pzstd` begins with. */
export function isZstd(bytes: Buffer): boolean {
  return ZSTD_MAGIC.every((byte, at) => bytes[at] === byte) || isSkippable(bytes);
}

function isSkippable(bytes: ArrayLike<number>): boolean {
  return (bytes[0]! & 0xf0) === 0x50 && bytes[1] === 0x2a && bytes[2] === 0x4d && bytes[3] === 0x18;
}

/**
 * Cuts zstd data after each block and frame (RFC 8878), without skippable frames, and checks what would make a decoder
 * allocate memory: the window of each frame and the size of each block. Throws INVALID_ARGUMENT for other data.
 */
export class ZstdBlocks {
  #part: Part = 'frame';
  /** First bytes of a header that came in several pieces. */
  #header: number[] = [];
  #headerLength = FRAME_HEADER;
  #left = 0;
  #isLast = false;
  #hasChecksum = false;
  #checksum: number[] = [];
  #ends: ZstdPiece['ends'];

  /** Whether all data so far is of whole frames. */
  get isWhole(): boolean {
    return this.#part === 'frame' && this.#header.length === 0;
  }

  /** The pieces, each to be decoded at once. */
  *cut(bytes: Buffer): Generator<ZstdPiece, void, void> {
    let from = 0;
    for (let at = 0; at < bytes.length; ) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, bytes.length - at);
        if (this.#part === 'checksum') this.#checksum.push(...bytes.subarray(at, at + taken));
        at += taken;
        this.#left -= taken;
        if (this.#part === 'skipped') from = at;
        if (this.#left > 0) continue;
        this.#bodyEnds();
      } else {
        this.#header.push(bytes[at++]!);
        if (this.#header.length < this.#headerLength) continue;
        if (this.#part === 'block') this.#block();
        else {
          const header = Buffer.from(this.#header);
          if (this.#frame()) yield { bytes: header, ends: undefined };
          from = at;
        }
        if (this.#ends === undefined) continue;
      }
      if (from < at) yield { bytes: bytes.subarray(from, at), ends: this.#ends };
      from = at;
      this.#ends = undefined;
    }
    // The header of a frame is a piece of its own, when it is known that the frame is not skipped.
    if (this.#part !== 'frame' && from < bytes.length) yield { bytes: bytes.subarray(from), ends: undefined };
  }

  #bodyEnds(): void {
    if (this.#part === 'body' && !this.#isLast) this.#expect('block', BLOCK_HEADER);
    else if (this.#part === 'body' && this.#hasChecksum) this.#body('checksum', CHECKSUM);
    else {
      if (this.#part !== 'skipped') {
        this.#ends = { checksum: this.#hasChecksum ? Buffer.from(this.#checksum).readUInt32LE() : undefined };
      }
      this.#expect('frame', FRAME_HEADER);
    }
  }

  /** Whether the header is complete, and not that of a skippable frame. */
  #frame(): boolean {
    const header = this.#header;
    if (isSkippable(header)) {
      if (header.length < SKIPPABLE_HEADER) this.#headerLength = SKIPPABLE_HEADER;
      else this.#skip(Buffer.from(header).readUInt32LE(4));
      return false;
    }
    if (ZSTD_MAGIC.some((byte, at) => header[at] !== byte)) throw damaged();
    const flags = header[4]!;
    const isSingle = (flags & 0x20) !== 0;
    const dictionary = [0, 1, 2, 4][flags & 3]!;
    const sizeBytes = flags >> 6 === 0 ? (isSingle ? 1 : 0) : 1 << (flags >> 6);
    const whole = FRAME_HEADER + (isSingle ? 0 : 1) + dictionary + sizeBytes;
    if (header.length < whole) {
      this.#headerLength = whole;
      return false;
    }
    const window = isSingle
      ? littleEndian(header.slice(whole - sizeBytes)) + (sizeBytes === 2 ? 256 : 0)
      : windowOf(header[5]!);
    if (window > MAX_WINDOW) {
      throw invalidArchive(`its zstd data needs a window of ${window} bytes, the most is ${MAX_WINDOW} (zstd -19)`);
    }
    this.#hasChecksum = (flags & 4) !== 0;
    this.#checksum = [];
    this.#expect('block', BLOCK_HEADER);
    return true;
  }

  #skip(length: number): void {
    if (length === 0) this.#expect('frame', FRAME_HEADER);
    else this.#body('skipped', length);
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

  #body(part: 'skipped' | 'body' | 'checksum', bytes: number): void {
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
