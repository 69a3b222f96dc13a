import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds after which a sandbox that ends together with a shell in it shows that it does, however busy the host is. */
const SHOWN_MS = 50;
/** Milliseconds for the report of an end that has begun, unless the sandbox cannot be killed. */
const END_MS = 10_000;

/**
 * Resolves when a sandbox has outlived one of its shells. The kernel ends the processes of a sandbox before the one that reports its
 * end, which is the better reason: if that end has begun, it comes in this time.
 */
export async function outliveShell(isEnding: () => Promise<boolean>): Promise<void> {
  await delay(SHOWN_MS, undefined, { ref: false });
  if (await isEnding()) await delay(END_MS, undefined, { ref: false });
}
