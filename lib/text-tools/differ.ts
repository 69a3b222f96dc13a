import type { FileHandle } from 'node:fs/promises';
import type { ChosenHunks } from '../contract/messages.ts';
import { ServiceError } from '../errors.ts';
import type { Differ } from '../patch/patch.ts';
import type { Remote, Threads } from '../threads/thread-pool.ts';
import { withThread } from '../threads/with-thread.ts';
import { diffOf } from './diff.ts';
import { type Comparison, chosenText, digest, fileDiff } from './file-diff.ts';
import type { TextTools } from './text-tools.ts';

/** Bytes of two texts whose comparison takes less than the way to another thread and back. */
const SHORT = 16_384;
const MAX_MS = 60_000;
const NEVER = new AbortController().signal;

/** Compares long texts in other threads, which end with the signal. */
export function threadedDiffer(threads: Threads<TextTools>, signal: AbortSignal): Differ {
  return (before, after) =>
    before.length + after.length <= SHORT
      ? Promise.resolve(diffOf(before, after))
      : elsewhere(threads, signal, (tools) => tools.diff(before, after));
}

/** The same, of `fileDiff`. */
export function threadedComparison(
  threads: Threads<TextTools>,
): (before: Uint8Array, after: Uint8Array) => Promise<Comparison> {
  return (before, after) =>
    before.length + after.length <= SHORT
      ? Promise.resolve(fileDiff(before, after))
      : elsewhere(threads, NEVER, (tools) => tools.compare(before, after));
}

/** The same, of `chosenText`. */
export function threadedChoice(
  threads: Threads<TextTools>,
): (...choice: Parameters<typeof chosenText>) => Promise<Uint8Array> {
  return async (before, after, choice: ChosenHunks, at) =>
    before.length + after.length <= SHORT
      ? chosenText(before, after, choice, at)
      : elsewhere(threads, NEVER, (tools) => tools.choose(before, after, choice, at));
}

/** Bytes whose digest takes less than a millisecond. */
const SHORT_DIGEST = 256 * 1024;

/**
 * SHA-256 of a file in lower-case hex. `opened`: calls with the host file that it is in, which another thread reads, as
 * threads have the same descriptors; undefined: it is in none. ABORTED if it is shorter than `size`.
 */
export function threadedDigest(threads: Threads<TextTools>) {
  return async (
    whole: () => Promise<Uint8Array>,
    size: number,
    opened: (use: (handle: FileHandle) => Promise<string>) => Promise<string | undefined>,
  ): Promise<string> => {
    if (size <= SHORT_DIGEST) return digest(await whole());
    const inThread = ({ fd }: FileHandle) => elsewhere(threads, NEVER, (tools) => tools.digest(fd, size));
    return (await opened(inThread)) ?? elsewhere(threads, NEVER, async (tools) => tools.digestBytes(await whole()));
  };
}

function elsewhere<R>(
  threads: Threads<TextTools>,
  signal: AbortSignal,
  use: (tools: Remote<TextTools>) => Promise<R>,
): Promise<R> {
  const late = () => new ServiceError('DEADLINE_EXCEEDED', `a diff or a digest took more than ${MAX_MS / 1000} s`);
  return withThread(threads, { signal, most: MAX_MS, late }, use);
}
