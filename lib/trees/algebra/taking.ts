import { type ByteString, joinPath } from '../../byte-string.ts';
import { differences } from '../directory/differences.ts';
import { type Entry, isDirectory, TYPE } from '../format/entry.ts';
import { NO_KEY } from '../format/keys.ts';
import { Changes } from './changed-directory.ts';
import type { CommitOptions, Numbers } from './commit-options.ts';
import { run, type Steps } from './steps.ts';
import type { Three } from './three.ts';

/** What entries of a codebase do not have. */
const PUBLISHED = { nlink: 1, agentText: false, atime: undefined, owner: undefined, holes: undefined } as const;

/** Names of one file become files of their own. */
export function publishedNumber(numbers: Numbers, { ino, nlink }: Entry): number {
  return nlink === 1 && numbers.isOwn(ino) ? ino : numbers.next();
}

/** What a commit does with single entries. */
export class Taking {
  readonly #options: CommitOptions;
  /** What was published of files with several names, by their numbers. */
  readonly #linked = new Map<number, Entry>();

  constructor(options: CommitOptions) {
    this.#options = options;
  }

  /** Special files have no place in a codebase. */
  chosen(path: ByteString, mine: Entry | undefined): boolean {
    return this.#options.choice.has(path) && (mine === undefined || mine.type <= TYPE.symlink);
  }

  /** The entry of the sandbox, or none, becomes that of all three; the sandbox keeps its number. */
  take(path: ByteString, three: Three): Three {
    const { m } = three;
    if (m === undefined) return { b: m, m, h: m };
    const { numbers, publish } = this.#options;
    const published = { ...publish(path, m), ...PUBLISHED, ino: publishedNumber(numbers, m) };
    const own = { ino: this.#isOneFile(m, published) ? m.ino : numbers.next(), nlink: m.nlink };
    return { b: published, m: { ...published, ...own, atime: m.atime, owner: m.owner }, h: published };
  }

  /** Not if other contents than these were published for another name of the file. */
  #isOneFile({ ino, nlink }: Entry, published: Entry): boolean {
    if (nlink === 1) return true;
    const { key } = this.#linked.get(ino) ?? published;
    this.#linked.set(ino, published);
    return key === published.key;
  }

  /** What a removal of all that is chosen leaves of an entry of head. */
  unchosen(path: ByteString, entry: Entry): Entry | undefined {
    return run(this.#unchosen(path, entry));
  }

  *#unchosen(path: ByteString, entry: Entry): Steps<Entry | undefined> {
    const { choice, published } = this.#options;
    if (!isDirectory(entry)) return choice.has(path) ? undefined : entry;
    if (choice.all(path)) return undefined;
    const { source } = this.#options.comparison;
    const changes = new Changes();
    for (const { name, b } of differences(source, NO_KEY, entry.key))
      changes.set(name, b, yield this.#unchosen(joinPath(path, name), b!));
    if (choice.has(path) && changes.sizeOf(entry) === 0) return undefined;
    return changes.apply(source, published, entry);
  }

  /** Whether a change at the path or below it is chosen. */
  any(path: ByteString, b: Entry | undefined, m: Entry | undefined): boolean {
    return run(this.#any(path, b, m));
  }

  *#any(path: ByteString, b: Entry | undefined, m: Entry | undefined): Steps<boolean> {
    const { comparison, choice } = this.#options;
    if (!choice.has(path) && !choice.below(path)) return false;
    if (this.chosen(path, m) && !comparison.alike(b, m)) return true;
    const [was, is] = [b, m].map((entry) => (isDirectory(entry) ? entry.key : NO_KEY));
    for (const { name, a, b: mine } of differences(comparison.source, was!, is!))
      if (yield this.#any(joinPath(path, name), a, mine)) return true;
    return false;
  }
}
