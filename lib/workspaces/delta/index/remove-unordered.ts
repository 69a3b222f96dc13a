/** Removes the first match; the last element takes its place. For lists of links, which may be long. */
export function removeUnordered<T>(list: T[], matches: (item: T) => boolean): void {
  const index = list.findIndex(matches);
  if (index === -1) return;
  const last = list.pop()!;
  if (index < list.length) list[index] = last;
}
