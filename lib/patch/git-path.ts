import type { ByteString } from '../byte-string.ts';

const ESCAPES: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\t': '\\t', '\r': '\\r' };

/** A backslash divides components on Windows, for which git protects repositories everywhere. */
const DIVIDER = /[/\\]/;
/** `.git`, its short name of Windows, and what file systems take for them: with dots and spaces at the end, with a stream. */
const MEANS_GIT = /^(?:\.git|git~1)[. ]*(?::.*)?$/is;
const MEANS_MODULES = /^(?:\.gitmodules|gitmod~[1-4]|gi7[\da-f]*~\d+)[. ]*(?::.*)?$/is;
/** Characters that HFS+ leaves out of names, in UTF-8. */
const LEFT_OUT = /\xe2\x80[\x8c-\x8f\xaa-\xae]|\xe2\x81[\xaa-\xaf]|\xef\xbb\xbf/g;

/**
 * Whether git refuses a patch that names this path: one of its components means `.git`, or it is a symlink that means
 * `.gitmodules`, on any system (read-cache.c, verify_path).
 */
export function isRefusedByGit(path: ByteString, isLink: boolean): boolean {
  const names = path.replace(LEFT_OUT, '').split(DIVIDER);
  return names.some((name) => MEANS_GIT.test(name)) || (isLink && names.some((name) => MEANS_MODULES.test(name)));
}

/** Formats a path as git does in a patch: with C-style quoting if it contains special bytes. */
export function gitPath(prefix: 'a' | 'b', path: ByteString): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must be quoted
  const quoted = path.replace(/["\\\x00-\x1f\x7f-\xff]/g, (char) => ESCAPES[char] ?? octal(char));
  return quoted === path ? `${prefix}/${path}` : `"${prefix}/${quoted}"`;
}

function octal(char: string): string {
  return `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`;
}
