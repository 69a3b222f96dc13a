/**
 * Regroups bytes into pieces of `size`, the last one shorter. Each has its own ArrayBuffer, for transfer to another
 * thread.
 */
export async function* inPieces(
  source: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<Uint8Array, void, void> {
  let held: Uint8Array[] = [];
  let length = 0;
  const join = () => {
    const piece = new Uint8Array(length);
    let at = 0;
    for (const each of held) {
      piece.set(each, at);
      at += each.length;
    }
    held = [];
    length = 0;
    return piece;
  };
  for await (const chunk of source) {
    for (let from = 0; from < chunk.length; ) {
      const part = chunk.subarray(from, from + size - length);
      held.push(part);
      length += part.length;
      from += part.length;
      if (length === size) yield join();
    }
  }
  if (length > 0) yield join();
}
