import { shellQuote, shellQuotedBytes } from './shell-quote.ts';

/** Text of a shell script, or a value of the request that the script contains quoted. */
export type ScriptPart = string | { quoted: string };

/** Maximum bytes of short parts that are encoded together. */
const PIECE = 65_536;
/** Shorter values are quoted as text. */
const SHORT = 1024;

const textOf = (part: ScriptPart): string => (typeof part === 'string' ? part : part.quoted);

/** A minimum of the script's bytes, without quoting it. */
export const leastBytes = (parts: readonly ScriptPart[]): number =>
  parts.reduce((sum, part) => sum + textOf(part).length, 0);

export const scriptText = (parts: readonly ScriptPart[]): string =>
  parts.map((part) => (typeof part === 'string' ? part : shellQuote(part.quoted))).join('');

/** The script as UTF-8, in pieces of one long value or of about PIECE characters. */
export function* scriptPieces(parts: readonly ScriptPart[]): Generator<Buffer, void, void> {
  let pending: Buffer[] = [];
  let length = 0;
  // Encoded together: a command may have thousands of variables.
  let short = '';
  const gathered = () => {
    const piece = Buffer.concat([...pending, Buffer.from(short)]);
    pending = [];
    length = 0;
    short = '';
    return piece;
  };
  for (const part of parts) {
    const size = textOf(part).length;
    const isLong = size >= PIECE;
    if (length > 0 && (isLong || length + size > PIECE)) yield gathered();
    length += size;
    if (size < SHORT) {
      short += typeof part === 'string' ? part : shellQuote(part.quoted);
      continue;
    }
    pending.push(Buffer.from(short), typeof part === 'string' ? Buffer.from(part) : shellQuotedBytes(part.quoted));
    short = '';
    if (isLong) yield gathered();
  }
  if (length > 0) yield gathered();
}
