import type { Mutant } from '../../../trees/model/mutants.ts';

const CHANGES: readonly Mutant[] = [
  {
    fault: 'a removed name is shown again',
    file: 'place.ts',
    text: 'if (item === null && !this.#found.exists) dir.unset(name);',
    instead: 'if (item === null) dir.unset(name);',
  },
  {
    fault: 'a replaced name counts twice',
    file: 'place.ts',
    text: '- (was ? 1 : 0);',
    instead: '- (own ? 1 : 0);',
  },
  {
    fault: 'a replaced file keeps its name',
    file: 'changes/names.ts',
    text: 'if (lost !== undefined) lose(tree, lost, place, time);',
    instead: '',
  },
  {
    fault: 'a change is made before it is recorded',
    file: 'changes/names.ts',
    text: "  tree.append({ op: 'drop',",
    instead: "  place.set(null);\n  tree.append({ op: 'drop',",
  },
  {
    fault: 'a moved file is still known by its old name',
    file: 'changes/move.ts',
    text: 'at.dir === from.dir && at.name === from.name ? { dir, name } : at',
    instead: 'at.dir === from.dir && at.name === name ? { dir, name } : at',
  },
  {
    fault: 'a directory moves as it was before its file became own',
    file: 'changes/move.ts',
    text: 'for (const place of [from, to]) movable(tree, place);',
    instead: 'const was = from.item; for (const place of [from, to]) movable(tree, place); from.set(was!);',
  },
  {
    fault: 'a directory moves into itself',
    file: 'changes/move.ts',
    text: 'if (isAbove(moved, to.dir)) throw EINVAL;',
    instead: '',
  },
  {
    fault: 'two names of a frozen file are two files',
    file: 'changes/move.ts',
    text: '&& x.ino === y.ino && x.nlink > 1',
    instead: '&& x.ino !== y.ino && x.nlink > 1',
  },
  {
    fault: 'a frozen file changes at one of its names',
    file: 'changes/thaw.ts',
    text: '? [place, ...otherPlaces(tree, place, item)]',
    instead: '? [place]',
  },
  {
    fault: 'the paths of a file stay those of before a move',
    file: 'link-paths.ts',
    text: 'this.#known = undefined;',
    instead: '',
  },
  {
    fault: 'names of a file are not counted',
    file: 'changes/lose.ts',
    text: '  counters.add(file.entry, names.length);',
    instead: '  counters.add(file.entry);',
  },
  {
    fault: 'bytes of a file count at each of its names',
    file: 'counters.ts',
    text: 'ofOneName(storedBytes(entry), entry.nlink)',
    instead: 'storedBytes(entry)',
  },
  {
    fault: 'written bytes are not counted',
    file: 'changes/contents.ts',
    text: 'counters.add(file.entry, names.length);',
    instead: 'counters.add(entry, names.length);',
  },
  {
    fault: 'bytes of open files are not counted',
    file: 'unlinked.ts',
    text: 'this.bytes += by;',
    instead: 'this.bytes += 0 * by;',
  },
];

const JOURNAL: readonly Mutant[] = [
  {
    fault: 'an own directory loses its attributes in a freeze',
    file: 'freeze.ts',
    text: 'if (unchanged && identical(now, findEntry(tree.source, entry.key, at))) continue;',
    instead: 'if (unchanged && identical(now, now)) continue;',
  },
  {
    fault: 'a freeze forgets what waits to be recorded',
    file: 'freeze.ts',
    text: 'tree.record(false);',
    instead: '',
  },
  {
    fault: 'a journal goes on with the numbers of the former one',
    file: 'journal/numbering.ts',
    text: 'this.#journal++;',
    instead: '',
  },
  {
    fault: 'a change is recorded before the base that it is made on',
    file: 'live-tree.ts',
    text: 'this.record(makesRoom);\n    this.journal.append(record, makesRoom);',
    instead: 'this.journal.append(record, makesRoom);\n    this.record(makesRoom);',
  },
  {
    fault: 'a replay gives no number to a new file',
    file: 'journal/replay.ts',
    text: 'if (item instanceof OwnFile) this.#numbered.push(item);',
    instead: 'if (item === undefined) this.#numbered.push(item);',
  },
];

const EXCHANGE: readonly Mutant[] = [
  {
    fault: 'head takes the place of a change',
    file: 'exchange/unchanged.ts',
    text: '|| a.key !== b.key ||',
    instead: '||',
  },
  {
    fault: 'head takes the place of a file of several names',
    file: 'exchange/unchanged.ts',
    text: ' || a.nlink !== 1) return false;',
    instead: ') return false;',
  },
  {
    fault: 'a change deep in a directory that head removed is lost',
    file: 'exchange/unchanged.ts',
    text: 'else if (!isUnchanged(source, own ?? undefined, before)) return false;',
    instead: '',
  },
  {
    fault: 'a conflict of modes is not seen',
    file: 'exchange/take.ts',
    text: 'if (modes.b !== h.mode) throw new Refused();',
    instead: '',
  },
  {
    fault: 'a directory that the journal knows is replaced',
    file: 'exchange/take.ts',
    text: '} else if (item instanceof OwnDirectory || !unchanged) {',
    instead: '} else if (!unchanged) {',
  },
  {
    fault: 'a tree is swapped below a change of the same name',
    file: 'exchange/swap.ts',
    text: 'if (identical(x, y)) continue;',
    instead: 'if (identical(x, y) || !(item instanceof OwnDirectory)) continue;',
  },
  {
    fault: 'head is followed while a crash may bring back the tree of before',
    file: 'exchange/follow-head.ts',
    text: 'requireRooted(tree);\n  const { root, base } = tree;',
    instead: 'const { root, base } = tree;',
  },
  {
    fault: 'a tree is swapped although head has moved since',
    file: 'exchange/swap.ts',
    text: '|| tree.hasTaken) return undefined;',
    instead: ') return undefined;',
  },
  {
    fault: 'a swapped tree is not known afterwards',
    file: 'exchange/swap.ts',
    text: 'tree.frozen = to;',
    instead: '',
  },
  {
    fault: 'a swapped tree is counted as the one of before',
    file: 'exchange/swap.ts',
    text: 'counters.exchange(frozen.totals, to.totals);',
    instead: '',
  },
];

export const MUTANTS = [...CHANGES, ...JOURNAL, ...EXCHANGE];
