/**
 * The indexes at which `wanted` occurs in `list`, without those that overlap the one before. Knuth, Morris and Pratt: at
 * most two comparisons for each element. The threat: `String.prototype.indexOf` takes the product of both lengths for a
 * text of one character.
 */
export function indexesOfSequence(list: ArrayLike<number>, wanted: ArrayLike<number>): number[] {
  const found: number[] = [];
  if (wanted.length === 0 || wanted.length > list.length) return found;
  const borders = bordersOf(wanted);
  let matched = 0;
  for (let at = 0; at < list.length; at++) {
    while (matched > 0 && list[at] !== wanted[matched]) matched = borders[matched - 1]!;
    if (list[at] === wanted[matched]) matched++;
    if (matched < wanted.length) continue;
    found.push(at + 1 - matched);
    matched = 0;
  }
  return found;
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
