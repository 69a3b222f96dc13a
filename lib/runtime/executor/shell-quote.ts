/**
 * One word of POSIX shell that stands for exactly `text`: the only way any text of a request reaches a shell.
 * Within single quotes nothing is special but the quote itself (POSIX XCU 2.2.2). NUL cannot be carried.
 */
export function shellQuote(text: string): string {
  if (text.includes('\0')) throw new RangeError('a NUL character cannot be quoted');
  return `'${text.replaceAll("'", "'\\''")}'`;
}
