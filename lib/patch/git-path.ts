import type { ByteString } from '../byte-string.ts';

const ESCAPES: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\t': '\\t', '\r': '\\r' };

/** Formats a path as git does in a patch: with C-style quoting if it contains special bytes. */
export function gitPath(prefix: 'a' | 'b', path: ByteString): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must be quoted
  const quoted = path.replace(/["\\\x00-\x1f\x7f-\xff]/g, (char) => ESCAPES[char] ?? octal(char));
  return quoted === path ? `${prefix}/${path}` : `"${prefix}/${quoted}"`;
}

function octal(char: string): string {
  return `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`;
}
