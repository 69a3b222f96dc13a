/** Bytes that are held at most, and one piece more. */
const MOST = 4 * 1024 * 1024;

/** The same bytes in fewer pieces: what comes while the consumer is busy is one piece. */
export async function* coalesced(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  let ended = false;
  let failure: { error: unknown } | undefined;
  let changed = (): void => undefined;
  const change = () => new Promise<void>((resolve) => (changed = resolve));
  const read = async () => {
    for await (const piece of source) {
      held.push(piece);
      bytes += piece.length;
      changed();
      while (bytes >= MOST) await change();
    }
  };
  read()
    .catch((error: unknown) => {
      failure = { error };
    })
    .finally(() => {
      ended = true;
      changed();
    });
  for (;;) {
    if (bytes > 0) {
      const piece = Buffer.concat(held);
      held = [];
      bytes = 0;
      changed();
      yield piece;
    } else if (failure) throw failure.error;
    else if (ended) return;
    else await change();
  }
}
