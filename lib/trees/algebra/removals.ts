import { differences } from '../directory/differences.ts';
import type { Sink } from '../directory/source.ts';
import { type DirectoryEntry, type Entry, isDirectory } from '../format/entry.ts';
import { Changes, emptied } from './changed-directory.ts';
import type { Comparison } from './comparison.ts';
import { run, type Steps } from './steps.ts';
import type { Two } from './three.ts';

/** How base follows head where one of both has removed or replaced a directory. */
export class Removals {
  readonly #comparison: Comparison;
  readonly #sink: Sink;

  constructor(comparison: Comparison, sink: Sink) {
    this.#comparison = comparison;
    this.#sink = sink;
  }

  /**
   * The sandbox has no directory here any more. What head removed as well is no conflict any more; what head changed or
   * added is one, and base stays without it.
   */
  agreed(b: DirectoryEntry, h: DirectoryEntry): Entry | undefined {
    return run(this.#agreedBelow(b, h));
  }

  *#agreedBelow(b: DirectoryEntry, h: DirectoryEntry): Steps<Entry | undefined> {
    const changes = new Changes();
    let all = b.mode === h.mode;
    for (const { name, a: was, b: now } of differences(this.#comparison.source, b.key, h.key)) {
      const agreed = yield this.#agreed(was, now);
      if (agreed !== now) all = false;
      changes.set(name, was, agreed);
    }
    return all ? h : changes.apply(this.#comparison.source, this.#sink, b);
  }

  *#agreed(was: Entry | undefined, now: Entry | undefined): Steps<Entry | undefined> {
    if (was === undefined || now === undefined) return undefined;
    if (isDirectory(was) && isDirectory(now)) return yield* this.#agreedBelow(was, now);
    return this.#comparison.same(was, now) ? now : was;
  }

  /**
   * Head has nothing here any more. What the sandbox has changed stays, with the directories that it needs, and so does
   * what base has there: it is in conflict.
   */
  byHead(b: DirectoryEntry, m: DirectoryEntry): Two {
    return run(this.#byHead(b, m));
  }

  *#byHead(b: DirectoryEntry, m: DirectoryEntry): Steps<Two> {
    const { source } = this.#comparison;
    const [base, mine] = [new Changes(), new Changes()];
    for (const { name, a: was, b: own } of differences(source, b.key, m.key)) {
      if (own === undefined || this.#comparison.same(was, own)) continue;
      const kept = isDirectory(was) && isDirectory(own) ? yield this.#byHead(was, own) : { b: was, m: own };
      base.set(name, undefined, kept.b);
      mine.set(name, undefined, kept.m);
    }
    const changed = b.mode !== m.mode;
    if (mine.count === 0 && !changed) return { b: undefined, m: undefined };
    return {
      b: base.count > 0 || changed ? base.apply(source, this.#sink, emptied(b), [b]) : undefined,
      m: mine.apply(source, this.#sink, emptied(m), [m]),
    };
  }
}
