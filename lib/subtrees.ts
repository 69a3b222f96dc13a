import { type ByteString, parentOf, ROOT_PATH } from './byte-string.ts';
import { forEach } from './long-lists.ts';

/**
 * The entries at and below some paths. The time of an answer does not depend on the number of paths: a request may have
 * 10,000, and a sandbox 100,000 changes.
 */
export class Subtrees {
  /** Answers for the paths themselves, and for the directories that were climbed through. */
  readonly #answers = new Map<ByteString, boolean>();

  constructor(tops: Iterable<ByteString>) {
    this.#answers.set(ROOT_PATH, false);
    for (const top of tops) this.#answers.set(top, true);
  }

  has(path: ByteString): boolean {
    const known = this.#answers.get(path);
    if (known !== undefined) return known;
    const climbed: ByteString[] = [];
    let answer: boolean | undefined;
    for (let at = parentOf(path); answer === undefined; at = parentOf(at)) {
      answer = this.#answers.get(at);
      if (answer === undefined) climbed.push(at);
    }
    for (const directory of climbed) this.#answers.set(directory, answer);
    return answer;
  }
}

/** All directories above the paths, with the root. */
export async function directoriesAbove(paths: readonly ByteString[]): Promise<Set<ByteString>> {
  const found = new Set<ByteString>();
  await forEach(paths, (path) => {
    if (path === ROOT_PATH) return;
    // The parents of a known directory are known, too.
    for (let at = parentOf(path); !found.has(at); at = parentOf(at)) {
      found.add(at);
      if (at === ROOT_PATH) break;
    }
  });
  return found;
}
