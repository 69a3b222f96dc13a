/** Milliseconds without a message after which a stream sends a keepalive. */
export const KEEPALIVE_MS = 15_000;

/**
 * The messages, with one of `keepalive()` after each `ms` milliseconds in which there was none, so that proxies and
 * clients do not take an idle stream for a dead one. Leaving the loop closes `messages`; while one is awaited, it is
 * closed when that settles, as the abort of the call's signal makes it do.
 */
export async function* keptAlive<T>(
  messages: AsyncIterable<T>,
  ms: number,
  keepalive: () => T,
): AsyncGenerator<T, void, void> {
  const iterator = messages[Symbol.asyncIterator]();
  let settled = true;
  let wake = () => {};
  const settle = () => {
    settled = true;
    wake();
  };
  try {
    for (;;) {
      const awaited = iterator.next();
      settled = false;
      awaited.then(settle, settle);
      while (!settled) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        if (!settled) yield keepalive();
      }
      const next = await awaited;
      if (next.done) return;
      yield next.value;
    }
  } finally {
    wake();
    const closed = iterator.return?.();
    if (settled) await closed;
    else closed?.catch(() => undefined);
  }
}
