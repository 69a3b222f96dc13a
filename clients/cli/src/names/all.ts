/** The elements of a list. */
export async function all<T>(elements: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const each of elements) found.push(each);
  return found;
}
