/** A fault put into a room: one text in one file, which must be there once, and what stands there instead. */
export interface Mutant {
  readonly fault: string;
  readonly file: string;
  readonly text: string;
  readonly instead: string;
}

export const MUTANTS: readonly Mutant[] = [
  {
    fault: 'base moves although both sides changed',
    file: 'algebra/follow.ts',
    text: 'if (!isDirectory(b)) return { b, m };',
    instead: 'if (!isDirectory(b)) return { b: h, m };',
  },
  {
    fault: 'what became equal stays a conflict',
    file: 'algebra/follow.ts',
    text: 'if (same(m, h)) return { b: h, m };',
    instead: '',
  },
  {
    fault: 'an unchanged entry does not follow',
    file: 'algebra/follow.ts',
    text: 'if (same(m, b)) return { b: h, m: h };',
    instead: 'if (same(m, b)) return { b: h, m };',
  },
  {
    fault: 'an own change is overwritten by head',
    file: 'algebra/follow.ts',
    text: 'if (same(b, h)) return { b: h, m };',
    instead: 'if (same(b, h)) return { b: h, m: h };',
  },
  {
    fault: 'a directory of the sandbox stays stale',
    file: 'algebra/follow.ts',
    text: 'mine.set(name, own, result.m);',
    instead: '',
  },
  {
    fault: 'a conflict below a directory is lost',
    file: 'algebra/follow.ts',
    text: 'base.set(name, theirs, result.b);',
    instead: '',
  },
  {
    fault: 'a conflict of modes is lost',
    file: 'algebra/follow.ts',
    text: 'return { b: b.mode, m: m.mode };',
    instead: 'return { b: h.mode, m: m.mode };',
  },
  {
    fault: 'what head added to a removed directory is no conflict',
    file: 'algebra/removals.ts',
    text: 'changes.set(name, was, agreed);',
    instead: 'changes.set(name, was, now);',
  },
  {
    fault: 'a removal by head leaves what the sandbox has not changed',
    file: 'algebra/removals.ts',
    text: 'if (own === undefined || this.#comparison.same(was, own)) continue;',
    instead: 'if (own === undefined) continue;',
  },
  {
    fault: 'a change of what head removed is no conflict',
    file: 'algebra/removals.ts',
    text: 'base.set(name, undefined, kept.b);',
    instead: '',
  },
  {
    fault: "a commit overwrites head's change of a file",
    file: 'algebra/commit-walk.ts',
    text: 'if (this.#comparison.same(b, h)) return this.#taking.take(path, three);',
    instead: 'if (m !== undefined) return this.#taking.take(path, three);',
  },
  {
    fault: "a commit of a removal takes head's changes with it",
    file: 'algebra/commit-walk.ts',
    text: 'if (here && !same(b, h)) return',
    instead: 'if (here && !same(b, h)) return this.#taking.take(path, three); if (!same) return',
  },
  {
    fault: 'a change that is not chosen is committed with its directory',
    file: 'algebra/taking.ts',
    text: 'return this.#options.choice.has(path) && (',
    instead: 'return this.#options.choice.below(path) && (',
  },
  {
    fault: "a directory's mode of theirs is not taken",
    file: 'algebra/taken-directories.ts',
    text: 'drops ? { ...m, mode: mode! } : m',
    instead: 'm',
  },
  {
    fault: 'permission bits do not count',
    file: 'algebra/comparison.ts',
    text: 'a.type !== b.type || a.mode !== b.mode) return false;\n    if (a.type === TYPE.directory)',
    instead: 'a.type !== b.type) return false;\n    if (a.type === TYPE.directory)',
  },
  {
    fault: 'two directories are compared by their first difference only',
    file: 'algebra/comparison.ts',
    text: 'if (!same) break;',
    instead: 'break;',
  },
  {
    fault: 'contents of the same size are the same',
    file: 'algebra/comparison.ts',
    text: 'return hash !== undefined && hash === this.#hash(b.key);',
    instead: 'return true;',
  },
  {
    fault: 'contents in a slot are never compared',
    file: 'algebra/wants.ts',
    text: 'for (const entry of comparison.unknown(x, y)) wanted.set(entry.key, entry);',
    instead: '{ comparison.unknown(x, y); }',
  },
  {
    fault: 'objects are shared that are not equal',
    file: 'directory/share.ts',
    text: 'return root.bytes.equals(object.bytes) ? directory : undefined;',
    instead: 'return directory;',
  },
  {
    fault: 'the last name of a directory is not compared',
    file: 'directory/differences.ts',
    text: 'while (!left.done || !right.done) {',
    instead: 'while (!left.done && !right.done) {',
  },
  {
    fault: 'a number that others have, too, is published',
    file: 'algebra/taking.ts',
    text: 'return nlink === 1 && numbers.isOwn(ino) ? ino : numbers.next();',
    instead: 'return nlink === 1 ? ino : numbers.next();',
  },
  {
    fault: 'a directory that a commit makes in head takes the number of the sandbox with it',
    file: 'algebra/taken-directories.ts',
    text: 'return { ...publishedEmpty(m), ino: publishedNumber(this.#options.numbers, m) };',
    instead: 'return publishedEmpty(m);',
  },
  {
    fault: "a directory of the sandbox takes the number that a commit gave to head's",
    file: 'algebra/taken-directories.ts',
    text: '{ ...(was ?? publishedEmpty(m)), ...numberOf(head), mode: baseMode }',
    instead: '{ ...(was ?? publishedEmpty(m)), mode: baseMode }',
  },
  {
    fault: 'the other names in head are still counted after a commit of one',
    file: 'algebra/commit.ts',
    text: 'const now = countLinks(comparison, published, head, h);',
    instead: 'const now = h;',
  },
  {
    fault: 'the other names in the sandbox keep the old contents after a commit of one',
    file: 'algebra/commit.ts',
    text: ': countLinks(comparison, own, mine, left.m);',
    instead: ': left.m;',
  },
  {
    fault: "head's entry is taken to a number that the sandbox has elsewhere",
    file: 'algebra/commit.ts',
    text: 'withOwnNumbers(ownNumbers, now, mine, left.m)',
    instead: 'countLinks(comparison, own, mine, left.m)',
  },
  {
    fault: 'a restored file has its number of before',
    file: 'algebra/restore.ts',
    text: 'return entry && { ...entry, ino: next(), nlink: 1 };',
    instead: 'return entry;',
  },
  {
    fault: 'a restore does not count the names that it leaves',
    file: 'algebra/restore.ts',
    text: 'return countLinks(options.comparison, options.sink, head, restored);',
    instead: 'return restored;',
  },
  {
    fault: 'what a discard brings back has the number of the renamed file',
    file: 'algebra/discard.ts',
    text: 'return { b, m: withOwnNumbers(options, head, mine, m) };',
    instead: 'return { b, m };',
  },
  {
    fault: 'a renamed file is not seen',
    file: 'algebra/own-numbers.ts',
    text: '(arrived && renamed.has(entry.ino)) || ',
    instead: '',
  },
  {
    fault: 'names that a sandbox has beside those of head are not counted',
    file: 'algebra/follow.ts',
    text: 'if (isLinked(base) || isLinked(head)) return { b, m: withOwnNumbers(options, head, mine, m) };\n  return { b, m: countLinks(comparison, sink, mine, m) };',
    instead: 'return { b, m };',
  },
  {
    fault: 'a name of a linked file that comes is not seen as one',
    file: 'algebra/follow.ts',
    text: 'if (isLinked(base) || isLinked(head)) return { b, m: withOwnNumbers(options, head, mine, m) };',
    instead: '',
  },
];

/** Faults without effect: the `follow` that ends a commit and comes after a discard moves base in any case. */
export const EQUIVALENT: readonly Mutant[] = [
  {
    fault: 'base does not move at a committed path',
    file: 'algebra/taking.ts',
    text: 'return { b: published, m: {',
    instead: 'return { b: undefined, m: {',
  },
  {
    fault: 'base does not move at a discarded path',
    file: 'algebra/discard.ts',
    text: 'return { b: h, m: h };\n    if (!here && ',
    instead: 'return { b, m: h };\n    if (!here && ',
  },
];
