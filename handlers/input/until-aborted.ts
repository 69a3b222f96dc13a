/**
 * The elements of `source`. When `signal` fires, throws its reason, also while an element or the end is awaited. The
 * threat: a call whose key was revoked takes effect because its content ends later.
 */
export async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void, void> {
  const iterator = source[Symbol.asyncIterator]();
  let refuse: (reason: unknown) => void = () => {};
  const aborted = () => refuse(signal.reason);
  signal.addEventListener('abort', aborted, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = await new Promise<IteratorResult<T>>((resolve, reject) => {
        refuse = reject;
        iterator.next().then(resolve, reject);
      });
      signal.throwIfAborted();
      if (next.done) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', aborted);
    const closed = iterator.return?.();
    // After an abort it waits for the element that is awaited, which may never come.
    if (signal.aborted) closed?.catch(() => undefined);
    else await closed;
  }
}
