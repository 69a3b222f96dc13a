const QUOTE = 0x27;
const BACKSLASH = 0x5c;
/** Ends the word's quotes, adds an escaped quote, and starts them again. */
const QUOTED_QUOTE = "'\\''";

/**
 * Quotes `text` as one word of POSIX shell: the only way for text of a request to reach a shell. Within single quotes
 * only the quote itself is special (POSIX XCU 2.2.2). Throws RangeError for a NUL.
 */
export function shellQuote(text: string): string {
  refuseNul(text);
  return `'${text.replaceAll("'", QUOTED_QUOTE)}'`;
}

/**
 * Like shellQuote, as UTF-8, for long texts. The threat: replaceAll needs 13 ms for a text of 128 KiB that consists of
 * quotes; a loop over the bytes needs 1 ms.
 */
export function shellQuotedBytes(text: string): Buffer {
  refuseNul(text);
  const bytes = Buffer.from(text);
  let quotes = 0;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === QUOTE) quotes++;
  const quoted = Buffer.allocUnsafe(bytes.length + quotes * (QUOTED_QUOTE.length - 1) + 2);
  let to = 0;
  quoted[to++] = QUOTE;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    quoted[to++] = byte;
    if (byte !== QUOTE) continue;
    quoted[to++] = BACKSLASH;
    quoted[to++] = QUOTE;
    quoted[to++] = QUOTE;
  }
  quoted[to] = QUOTE;
  return quoted;
}

function refuseNul(text: string): void {
  if (text.includes('\0')) throw new RangeError('a NUL character cannot be quoted');
}
