/**
 * Quotes `text` as one word of POSIX shell: the only way for text of a request to reach a shell. Within single quotes
 * only the quote itself is special (POSIX XCU 2.2.2). Throws RangeError for a NUL.
 */
export function shellQuote(text: string): string {
  if (text.includes('\0')) throw new RangeError('a NUL character cannot be quoted');
  return `'${text.replaceAll("'", "'\\''")}'`;
}
