import { type ByteString, joinPath } from '../../byte-string.ts';
import { together } from '../directory/together.ts';
import { type DirectoryEntry, type Entry, isDirectory } from '../format/entry.ts';
import { NO_KEY } from '../format/keys.ts';
import { Changes, type ChangesOfThree, emptied } from './changed-directory.ts';
import type { CommitOptions } from './commit-options.ts';
import { run, type Steps } from './steps.ts';
import { publishedNumber, type Taking } from './taking.ts';
import type { Three } from './three.ts';

/** Of a directory of head that is only made because something in it is chosen. */
const MADE_MODE = 0o755;

/** Directories of a sandbox in a commit: what of them becomes head's, and what base is then. */
export class TakenDirectories {
  readonly #options: CommitOptions;
  readonly #taking: Taking;

  constructor(options: CommitOptions, taking: Taking) {
    this.#options = options;
    this.#taking = taking;
  }

  /**
   * A directory after the changes of what is in it. `takes`: its mode becomes head's; `drops`: head's mode becomes the
   * sandbox's. A directory that head does not have is made if something in it was taken.
   */
  merged(
    path: ByteString,
    { b, m, h }: { b: Entry | undefined; m: DirectoryEntry; h: DirectoryEntry | undefined },
    changes: ChangesOfThree,
    { takes, drops }: { takes: boolean; drops: boolean },
  ): Three {
    const { own } = this.#options;
    const { source } = this.#options.comparison;
    const was = isDirectory(b) ? b : undefined;
    const made = changes.h.count > 0 ? this.#madeMode(path, was, m) : undefined;
    const mode = takes ? m.mode : (h?.mode ?? made);
    const head = mode === undefined ? undefined : this.inHead(changes.h, { ...(h ?? this.#made(m)), mode });
    const baseMode = takes || drops ? mode : (was?.mode ?? mode);
    const base =
      baseMode === undefined
        ? undefined
        : changes.b.apply(source, own, { ...(was ?? publishedEmpty(m)), ...numberOf(head), mode: baseMode }, [head]);
    const mine = changes.m.apply(source, own, drops ? { ...m, mode: mode! } : m, [head]);
    return { b: base, m: mine, h: head };
  }

  /** A directory of head after changes. */
  inHead(changes: Changes, directory: DirectoryEntry): DirectoryEntry {
    const { comparison, published, time } = this.#options;
    const now = changes.apply(comparison.source, published, directory);
    return changes.names ? { ...now, mtime: time.s, mtimeNs: time.ns, ctime: time.s, ctimeNs: time.ns } : now;
  }

  /** A directory in the place of a file of head: all that is chosen in it, whether the sandbox has changed it or not. */
  all(path: ByteString, b: Entry | undefined, m: Entry): Three {
    return run(this.#all(path, b, m));
  }

  *#all(path: ByteString, b: Entry | undefined, m: Entry | undefined): Steps<Three> {
    if (m === undefined) return { b: this.#taking.chosen(path, m) ? undefined : b, m, h: undefined };
    const here = this.#taking.chosen(path, m);
    if (!isDirectory(m)) return here ? this.#taking.take(path, { b, m, h: undefined }) : { b, m, h: undefined };
    const { comparison, own } = this.#options;
    const { source } = comparison;
    const was = isDirectory(b) ? b : undefined;
    const changes = { b: new Changes(), m: new Changes(), h: new Changes() };
    for (const { name, a, b: mine } of together(source, was?.key ?? NO_KEY, m.key)) {
      const result = yield this.#all(joinPath(path, name), a, mine);
      changes.b.set(name, a, result.b);
      changes.m.set(name, mine, result.m);
      changes.h.set(name, undefined, result.h);
    }
    const mine = changes.m.apply(source, own, m);
    if (!here && changes.h.count === 0) {
      const kept = was ?? (changes.b.sizeOf(undefined) > 0 ? publishedEmpty(m) : undefined);
      return { b: kept ? changes.b.apply(source, own, kept) : b, m: mine, h: undefined };
    }
    const mode = this.#madeMode(path, was, m);
    const head = this.inHead(changes.h, { ...this.#made(m), mode });
    const base = { ...(was ?? publishedEmpty(m)), ...numberOf(head), mode };
    return { b: changes.b.apply(source, own, base, [head]), m: mine, h: head };
  }

  #made(m: Entry): DirectoryEntry {
    return { ...publishedEmpty(m), ino: publishedNumber(this.#options.numbers, m) };
  }

  #madeMode(path: ByteString, was: DirectoryEntry | undefined, m: DirectoryEntry): number {
    return was || this.#taking.chosen(path, m) ? m.mode : MADE_MODE;
  }
}

/** Base has seen head's number: the one of the sandbox is its own, and stays. */
function numberOf(head: Entry | undefined): { ino?: number } {
  return head ? { ino: head.ino } : {};
}

function publishedEmpty(entry: Entry): DirectoryEntry {
  return { ...emptied(entry), atime: undefined, owner: undefined };
}
