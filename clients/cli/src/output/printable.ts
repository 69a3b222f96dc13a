/**
 * Names and contents come from programs of sandboxes. The threat: escape sequences that rewrite what the user sees,
 * set the clipboard or type answers, and characters that reorder text. What could do so is shown as an escape.
 */
const UNSAFE_IN_TEXT =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;
const UNSAFE_IN_NAME = /[\t\n\\]/g;

const escaped = (char: string): string => {
  const code = char.codePointAt(0)!;
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`;
  return `\\u{${code.toString(16)}}`;
};

/** Text of several lines: contents of files, output. Lines and tabs stay. */
export const printableText = (text: string): string => text.replace(UNSAFE_IN_TEXT, escaped);

const SHORT: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\\': '\\\\' };

/** A name or a message on one line. */
export const printableName = (name: string): string => printableText(name).replace(/[\t\n]/g, (char) => SHORT[char]!);

/** The same, and a backslash is doubled, so that two names never look the same. */
export const quotedName = (name: string): string =>
  name.replace(UNSAFE_IN_NAME, (char) => SHORT[char]!).replace(UNSAFE_IN_TEXT, escaped);
