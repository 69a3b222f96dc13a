/** The order of paths by their bytes in UTF-8, which is that of the server. */
export function byBytes(one: string, other: string): number {
  if (one === other) return 0;
  let at = 0;
  while (one.charCodeAt(at) === other.charCodeAt(at)) at++;
  return weight(one.charCodeAt(at)) - weight(other.charCodeAt(at));
}

/** Of a unit of UTF-16, NaN at the end: characters beyond U+FFFF, which have two of U+D800 to U+DFFF, are after all others. */
const weight = (unit: number): number => (Number.isNaN(unit) ? -1 : (unit & 0xf800) === 0xd800 ? unit + 0x10000 : unit);
