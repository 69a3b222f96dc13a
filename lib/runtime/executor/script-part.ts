import { shellQuote, shellQuotedBytes } from './shell-quote.ts';

/** Text of a shell script, or a value of the request that the script contains quoted. */
export type ScriptPart = string | { quoted: string };

/** Maximum bytes of short parts that are encoded together. */
const PIECE = 65_536;

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
  const gathered = () => {
    const piece = Buffer.concat(pending);
    pending = [];
    length = 0;
    return piece;
  };
  for (const part of parts) {
    const bytes = typeof part === 'string' ? Buffer.from(part) : shellQuotedBytes(part.quoted);
    const isLong = bytes.length >= PIECE;
    if (length > 0 && (isLong || length + bytes.length > PIECE)) yield gathered();
    if (isLong) {
      yield bytes;
    } else {
      pending.push(bytes);
      length += bytes.length;
    }
  }
  if (length > 0) yield gathered();
}
