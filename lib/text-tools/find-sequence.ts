/**
 * The first index at which `wanted` occurs in `list`, or -1. Knuth, Morris and Pratt: at most two comparisons for each
 * element. The threat: `String.prototype.indexOf` takes the product of both lengths for a text of one character.
 */
export function indexOfSequence(list: ArrayLike<number>, wanted: ArrayLike<number>): number {
  if (wanted.length === 0) return 0;
  if (wanted.length > list.length) return -1;
  const borders = bordersOf(wanted);
  let matched = 0;
  for (let at = 0; at < list.length; at++) {
    while (matched > 0 && list[at] !== wanted[matched]) matched = borders[matched - 1]!;
    if (list[at] === wanted[matched]) matched++;
    if (matched === wanted.length) return at + 1 - matched;
  }
  return -1;
}

/** For each prefix the length of the longest shorter one that it also ends with. */
function bordersOf(wanted: ArrayLike<number>): Int32Array {
  const borders = new Int32Array(wanted.length);
  for (let at = 1, length = 0; at < wanted.length; at++) {
    while (length > 0 && wanted[at] !== wanted[length]) length = borders[length - 1]!;
    if (wanted[at] === wanted[length]) length++;
    borders[at] = length;
  }
  return borders;
}

/** The UTF-16 code units of a text. */
export function unitsOf(text: string): Uint16Array {
  const units = new Uint16Array(text.length);
  for (let at = 0; at < text.length; at++) units[at] = text.charCodeAt(at);
  return units;
}
