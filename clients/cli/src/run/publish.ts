import type { Paddock } from 'paddock-sandbox';
import type { Context } from '../command-line/command.ts';
import { forwardOpened } from '../forward/opened.ts';

/** Runs `work` while ports of the sandbox are reached at ports of this machine. A port that cannot be ends it, too. */
export async function whilePublished<T>(
  ports: readonly { port: number; localPort: number }[],
  { context, paddock, sandboxId }: { context: Context; paddock: Paddock; sandboxId: string },
  work: () => Promise<T>,
): Promise<T> {
  if (ports.length === 0) return work();
  const over = new AbortController();
  const signal = AbortSignal.any([context.signal, over.signal]);
  const all = ports.map((each) => forwardOpened(paddock, { ...each, sandboxId }, { out: context.out, signal }));
  const failed = Promise.all(all).then(() => new Promise<never>(() => undefined));
  try {
    return await Promise.race([work(), failed]);
  } finally {
    over.abort();
    await Promise.allSettled(all);
  }
}
