/** The bytes of a bracket expression, as git reads it; it never matches a slash. */
interface ByteClass {
  bytes: Uint8Array;
  /** Index of its closing bracket. */
  end: number;
}

/** `at`: after the opening bracket. undefined: it is not closed, or names an unknown class. */
export function classOf(text: string, at: number): ByteClass | undefined {
  const negated = text[at] === '!' || text[at] === '^';
  const first = negated ? at + 1 : at;
  const bytes = new Uint8Array(256);
  /** Begins a range, if a hyphen follows. */
  let before = -1;
  let end = first;
  for (; text[end] !== ']' || end === first; end++) {
    if (text[end] === '-' && before >= 0 && text[end + 1] !== undefined && text[end + 1] !== ']') {
      end += text[end + 1] === '\\' ? 2 : 1;
      if (end >= text.length) return undefined;
      // Empty, if its ends are in the wrong order.
      bytes.fill(1, before, Math.max(before, text.charCodeAt(end) + 1));
      before = -1;
      continue;
    }
    const close = text.startsWith('[:', end) ? text.indexOf(']', end + 2) : -1;
    if (text.startsWith('[:', end) && close === -1) return undefined;
    if (close > end + 2 && text[close - 1] === ':') {
      const members = CLASSES.get(text.slice(end + 2, close - 1));
      if (members === undefined) return undefined;
      for (const [low, high] of members) bytes.fill(1, low, high + 1);
      before = -1;
      end = close;
      continue;
    }
    if (text[end] === '\\') end++;
    if (end >= text.length) return undefined;
    before = text.charCodeAt(end);
    bytes[before] = 1;
  }
  if (negated) for (let byte = 0; byte < 256; byte++) bytes[byte] = 1 - bytes[byte]!;
  bytes[SLASH] = 0;
  return { bytes, end };
}

const SLASH = 0x2f;
const DIGIT = [0x30, 0x39] as const;
const UPPER = [0x41, 0x5a] as const;
const LOWER = [0x61, 0x7a] as const;

/** Ranges of bytes. */
const CLASSES: ReadonlyMap<string, readonly (readonly [number, number])[]> = new Map([
  ['alnum', [DIGIT, UPPER, LOWER]],
  ['alpha', [UPPER, LOWER]],
  ['blank', [[0x20, 0x20] as const, [0x09, 0x09] as const]],
  ['cntrl', [[0x00, 0x1f] as const, [0x7f, 0x7f] as const]],
  ['digit', [DIGIT]],
  ['graph', [[0x21, 0x7e] as const]],
  ['lower', [LOWER]],
  ['print', [[0x20, 0x7e] as const]],
  ['punct', [[0x21, 0x2f] as const, [0x3a, 0x40] as const, [0x5b, 0x60] as const, [0x7b, 0x7e] as const]],
  ['space', [[0x20, 0x20] as const, [0x09, 0x0a] as const, [0x0d, 0x0d] as const]],
  ['upper', [UPPER]],
  ['xdigit', [DIGIT, [0x41, 0x46] as const, [0x61, 0x66] as const]],
]);
