import { differences } from '../directory/differences.ts';
import { childOf } from '../directory/find-entry.ts';
import type { Sink } from '../directory/source.ts';
import { type DirectoryEntry, type Entry, identical, isDirectory } from '../format/entry.ts';
import { Changes, emptied } from './changed-directory.ts';
import type { Trees } from './commit-options.ts';
import type { Comparison } from './comparison.ts';
import { countLinks, isLinked } from './count-links.ts';
import { type OwnNumbers, withOwnNumbers } from './own-numbers.ts';
import { Removals } from './removals.ts';
import { run, type Steps } from './steps.ts';
import type { Two } from './three.ts';

/**
 * A sandbox after its codebase has moved to `head`. Where it changed nothing it has head's entry; its own changes stay as
 * they are. Where both sides changed, base keeps the entry of before: a path is in conflict if and only if base and head
 * are not the same there.
 */
export function follow(options: OwnNumbers, { base, mine, head }: Trees): Two {
  const { comparison, sink } = options;
  const { b, m } = run(new Follow(comparison, sink).of(base, mine, head));
  // A number of head is new to the sandbox, unless the file has several names.
  if (isLinked(base) || isLinked(head)) return { b, m: withOwnNumbers(options, head, mine, m) };
  return { b, m: countLinks(comparison, sink, mine, m) };
}

class Follow {
  readonly #comparison: Comparison;
  readonly #sink: Sink;
  readonly #removals: Removals;

  constructor(comparison: Comparison, sink: Sink) {
    this.#comparison = comparison;
    this.#sink = sink;
    this.#removals = new Removals(comparison, sink);
  }

  *of(b: Entry | undefined, m: Entry | undefined, h: Entry | undefined): Steps<Two> {
    if (identical(b, h)) return { b: h, m };
    if (identical(m, b)) return { b: h, m: h };
    // Also if base has none: both have made it.
    if (isDirectory(m) && isDirectory(h)) return yield* this.#merged(b, m, h);
    const { same } = this.#comparison;
    if (same(b, h)) return { b: h, m };
    if (same(m, b)) return { b: h, m: h };
    if (same(m, h)) return { b: h, m };
    if (!isDirectory(b)) return { b, m };
    if (isDirectory(h)) return { b: this.#removals.agreed(b, h), m };
    if (h === undefined && isDirectory(m)) return this.#removals.byHead(b, m);
    return { b: isDirectory(m) ? b : emptied(b), m };
  }

  /** Names at which head has what base has are not visited: nothing changes there. */
  *#merged(b: Entry | undefined, m: DirectoryEntry, h: DirectoryEntry): Steps<Two> {
    const { source } = this.#comparison;
    const was = isDirectory(b) ? b : undefined;
    const [base, mine] = [new Changes(), new Changes()];
    for (const { name, a, b: theirs } of differences(source, (was ?? m).key, h.key)) {
      const own = was ? childOf(source, m, name) : a;
      const result = yield this.of(was ? a : undefined, own, theirs);
      base.set(name, theirs, result.b);
      mine.set(name, own, result.m);
    }
    const modes = mergedModes(was, m, h);
    const now = base.apply(source, this.#sink, modes.b === h.mode ? h : { ...h, mode: modes.b }, [was]);
    const attributes = was ? mergedAttributes(was, m, h, modes.m) : m;
    return { b: now, m: mine.apply(source, this.#sink, attributes, [h]) };
  }
}

/** Three different modes are a conflict. A directory that both have made is none. */
export function mergedModes(b: Entry | undefined, m: Entry, h: Entry): { b: number; m: number } {
  if (b === undefined || b.mode === h.mode) return { b: h.mode, m: m.mode };
  if (m.mode === b.mode || m.mode === h.mode) return { b: h.mode, m: h.mode };
  return { b: b.mode, m: m.mode };
}

/** Head's time and number, unless the sandbox has its own. */
export function mergedAttributes(b: Entry, m: DirectoryEntry, h: Entry, mode: number): DirectoryEntry {
  const merged = { ...m, mode };
  if (m.ino === b.ino) merged.ino = h.ino;
  if (m.mtime === b.mtime && m.mtimeNs === b.mtimeNs) Object.assign(merged, { mtime: h.mtime, mtimeNs: h.mtimeNs });
  if (m.ctime === b.ctime && m.ctimeNs === b.ctimeNs) Object.assign(merged, { ctime: h.ctime, ctimeNs: h.ctimeNs });
  return identical(merged, m) ? m : merged;
}
