/** The first `bytes` bytes of the chunks, which are not copied. */
export function firstOf(chunks: readonly Buffer[], bytes: number): Buffer[] {
  const first: Buffer[] = [];
  for (let at = 0, left = bytes; at < chunks.length && left > 0; at++) {
    const chunk = chunks[at]!.subarray(0, left);
    first.push(chunk);
    left -= chunk.length;
  }
  return first;
}
