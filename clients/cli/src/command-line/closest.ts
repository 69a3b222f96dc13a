/** What was probably meant by a word that is none of these; undefined: none is near. */
export function closest(given: string, known: readonly string[]): string | undefined {
  const most = Math.max(1, Math.floor(given.length / 3));
  const [best] = known
    .map((word) => ({ word, distance: distanceOf(given, word) }))
    .sort((one, other) => one.distance - other.distance);
  return best !== undefined && best.distance <= most ? best.word : undefined;
}

/** "; did you mean …?", or nothing. */
export function hint(given: string, known: readonly string[], shown = (word: string): string => word): string {
  const meant = closest(given, known);
  return meant === undefined ? '' : `; did you mean ${shown(meant)}?`;
}

/** Letters that are inserted, left out, replaced or swapped. */
function distanceOf(one: string, other: string): number {
  const rows = Array.from({ length: one.length + 1 }, (_, i) => Array.from({ length: other.length + 1 }, () => i));
  for (let j = 0; j <= other.length; j++) rows[0]![j] = j;
  for (let i = 1; i <= one.length; i++) {
    for (let j = 1; j <= other.length; j++) {
      const replaced = rows[i - 1]![j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1);
      const least = Math.min(rows[i - 1]![j]! + 1, rows[i]![j - 1]! + 1, replaced);
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      rows[i]![j] = isSwap ? Math.min(least, rows[i - 2]![j - 2]! + 1) : least;
    }
  }
  return rows[one.length]![other.length]!;
}
