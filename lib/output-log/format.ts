/**
 * The form of a log: a sequence of blocks of 4,096 bytes. A block begins with a head, which has the offset of its first
 * byte of output, so that a position in a file is found by binary search of heads. Records follow: a stream, a length and
 * the output. No record crosses a block. Zeros fill a rest of a block that is too small for a record.
 */
export type LogStream = 'stdout' | 'stderr' | 'terminal';

export const BLOCK = 4096;
/** Magic (2 bytes), place of the first record in the block (2), offset of the first byte of output (6). Little endian. */
export const BLOCK_HEAD = 10;
/** Stream (1 byte), length (2). */
export const RECORD_HEAD = 3;
const MAGIC = 0x4c4f;

const STREAMS: readonly (LogStream | undefined)[] = [undefined, 'stdout', 'stderr', 'terminal'];
const TAGS: Readonly<Record<LogStream, number>> = { stdout: 1, stderr: 2, terminal: 3 };

/** Consecutive bytes of a log, encoded, in memory. */
export interface Chunk {
  /** Position of the first byte; multiples of BLOCK begin a block. */
  readonly position: number;
  /** Offset of the first byte of output. */
  readonly start: number;
  readonly bytes: Buffer;
}

export function tagOf(stream: LogStream): number {
  return TAGS[stream];
}

/** undefined: padding, or damage. */
export function streamOf(tag: number | undefined): LogStream | undefined {
  return STREAMS[tag ?? 0];
}

/** `first`: place of the first record in the block. */
export function writeBlockHead(bytes: Buffer, at: number, offset: number, first: number): void {
  bytes.writeUInt16LE(MAGIC, at);
  bytes.writeUInt16LE(first, at + 2);
  bytes.writeUIntLE(offset, at + 4, 6);
}

/** The offset of the first byte of output of the block at `at`; undefined if its head is torn or damaged. */
export function blockOffset(bytes: Buffer, at: number): number | undefined {
  if (at + BLOCK_HEAD > bytes.length || bytes.readUInt16LE(at) !== MAGIC) return undefined;
  return bytes.readUIntLE(at + 4, 6);
}

/** The place of the first record in the block at `at`, whose head is whole. */
export function firstRecord(bytes: Buffer, at: number): number {
  return bytes.readUInt16LE(at + 2);
}
