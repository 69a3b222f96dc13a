import { crc32 } from 'node:zlib';
import { breaks } from '../breaks.ts';
import type { Line } from './read-lines.ts';
import { DamagedError } from './state.ts';

/** What a frame begins with: its sequence number, the bytes of its payload, and the CRC-32 of both and of the payload. */
const HEAD = /^(\d{1,16}) (\d{1,10}) ([0-9a-f]{8}) /;
const MAX_HEAD = 37;
/** Characters of a list that are encoded together. */
const PIECE = 65_536;

export interface Frame {
  readonly sequence: number;
  readonly payload: unknown;
}

/** One line of the log: sequence number, length, checksum and payload, which is JSON. */
export function frameOf({ sequence, payload }: Frame): Buffer {
  return Buffer.concat(framed(sequence, [Buffer.from(`${JSON.stringify(payload)}\n`)]));
}

/** The line of a list, in pieces. The threat: a record has 2 MiB of rules, and those of many forks are written together. */
export async function frameOfList(sequence: number, list: readonly unknown[]): Promise<readonly Buffer[]> {
  const pieces: Buffer[] = [];
  let text = '[';
  for (const [index, each] of list.entries()) {
    text += `${index > 0 ? ',' : ''}${JSON.stringify(each)}`;
    if (text.length < PIECE) continue;
    pieces.push(Buffer.from(text));
    text = '';
    const due = breaks.due();
    if (due !== undefined) await due;
  }
  pieces.push(Buffer.from(`${text}]\n`));
  return framed(sequence, pieces);
}

/** `json`: the payload and the end of the line. */
function framed(sequence: number, json: readonly Buffer[]): readonly Buffer[] {
  const length = json.reduce((sum, piece) => sum + piece.length, -1);
  const [first = Buffer.alloc(0), ...others] = json;
  const payload = [...json.slice(0, -1), json.at(-1)!.subarray(0, -1)];
  return [
    Buffer.concat([Buffer.from(`${sequence} ${length} ${checksum(sequence, length, payload)} `), first]),
    ...others,
  ];
}

/** undefined: the line is no frame, or does not match its length or checksum. */
export function parseFrame({ bytes, isWhole }: Line): Frame | undefined {
  const head = headOf(bytes);
  if (head === undefined || !isWhole) return undefined;
  const json = bytes.subarray(head.from);
  if (json.length !== head.length || checksum(head.sequence, json.length, [json]) !== head.sum) return undefined;
  try {
    return { sequence: head.sequence, payload: JSON.parse(json.toString('utf8')) as unknown };
  } catch {
    throw new DamagedError('has a frame that is not JSON');
  }
}

/**
 * Whether the last line of a log, which is no frame, is what a crash leaves of a write: a part of a frame, or blocks of
 * zeros. All other differences are damage.
 */
export function isTorn({ bytes, isWhole }: Line): boolean {
  if (bytes.includes(0)) return true;
  const head = headOf(bytes);
  return !isWhole && (head === undefined || bytes.length - head.from <= head.length);
}

function headOf(bytes: Buffer): { sequence: number; length: number; sum: string; from: number } | undefined {
  const match = HEAD.exec(bytes.subarray(0, MAX_HEAD).toString('latin1'));
  if (match === null) return undefined;
  const [{ length: from }, sequence, length, sum] = [match[0], Number(match[1]), Number(match[2]), match[3]!];
  return { sequence, length, sum, from };
}

function checksum(sequence: number, length: number, json: readonly Buffer[]): string {
  const sum = json.reduce((before, piece) => crc32(piece, before), crc32(`${sequence} ${length} `));
  return sum.toString(16).padStart(8, '0');
}
