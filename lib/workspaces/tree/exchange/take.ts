import { mergedAttributes, mergedModes } from '../../../trees/algebra/follow.ts';
import type { Difference } from '../../../trees/directory/differences.ts';
import { type DirectoryEntry, type Entry, identical, isDirectory } from '../../../trees/format/entry.ts';
import type { Found } from '../found.ts';
import { entryOf, type Item, isDirectoryItem, OwnDirectory } from '../items.ts';
import type { LiveTree } from '../live-tree.ts';
import { detach } from './detach.ts';
import type { HeadMove } from './head-move.ts';
import { Target } from './target.ts';
import { isUnchanged } from './unchanged.ts';

/** Beyond what this knows how to do: `follow` does it. */
class Refused extends Error {}

/**
 * What `follow` would do with the tree after a move of head, done in memory: where the sandbox has base's entry it gets
 * head's. Answers undefined where the sandbox has changed what head changed, or for too many entries; else with what does it,
 * which cannot fail.
 */
export function planTake(tree: LiveTree, move: HeadMove): (() => void) | undefined {
  const plan = new Plan(tree, move);
  try {
    plan.make();
    return () => plan.run();
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

/** Head has a directory where base and the sandbox have one, too. */
interface Merge {
  readonly target: Target;
  readonly b: DirectoryEntry;
  readonly h: DirectoryEntry;
}

class Plan {
  readonly #tree: LiveTree;
  readonly #move: HeadMove;
  readonly #steps: (() => void)[] = [];
  readonly #waiting: Merge[];

  constructor(tree: LiveTree, move: HeadMove) {
    this.#tree = tree;
    this.#move = move;
    this.#waiting = [{ target: Target.root(tree), b: move.from, h: move.to }];
  }

  make(): void {
    const { root } = this.#tree;
    if (root.patch.size === 0 && root.entry.key === this.#move.from.key) this.#replaceRoot();
    else for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) this.#merge(next);
  }

  run(): void {
    for (const step of this.#steps) step();
    this.#tree.generation++;
    this.#tree.hasTaken = true;
  }

  #replaceRoot(): void {
    const { root, counters } = this.#tree;
    const { from, to } = this.#move;
    const { key, size, totals } = to;
    const entry = { ...this.#attributes(from, root.entry, to), key, size, totals };
    this.#steps.push(() => {
      counters.exchange(root.entry.totals, totals);
      root.rebase(entry);
    });
  }

  #attributes(b: DirectoryEntry, m: DirectoryEntry, h: DirectoryEntry): DirectoryEntry {
    const modes = mergedModes(b, m, h);
    if (modes.b !== h.mode) throw new Refused();
    return mergedAttributes(b, m, h, modes.m);
  }

  #merge({ target, b, h }: Merge): void {
    const attributes = this.#attributes(b, target.entry, h);
    if (attributes !== target.entry)
      this.#add(() => {
        target.own().entry = attributes;
      });
    const changed = this.#move.changed(b.key, h.key);
    if (changed.length > this.#move.most) throw new Refused();
    for (const difference of changed) this.#name(target, difference);
  }

  #name(target: Target, { name, a: b, b: h }: Difference): void {
    const { item, found } = target.find(name);
    const unchanged = isUnchanged(this.#tree.source, item, b);
    if (!isDirectoryItem(item) || !isDirectory(b) || !isDirectory(h)) {
      if (!unchanged) throw new Refused();
      // Head has what base has, with another number or time: what the sandbox made, though equal to it, stays.
      const isSame = item !== undefined && identical(entryOf(item), b);
      if (!isSame && b !== undefined && isUnchanged(this.#tree.source, h, b)) return;
      this.#replace(target, found, item, h, name);
    } else if (item instanceof OwnDirectory || !unchanged) {
      // What is own stays so: the journal may know it by its number.
      this.#waiting.push({ target: target.below(name, item, found), b, h });
    } else this.#replace(target, found, item, this.#followed(b, item, h), name);
  }

  /** A clean directory with nothing of its own but times. */
  #followed(b: DirectoryEntry, m: DirectoryEntry, h: DirectoryEntry): DirectoryEntry {
    const { key, size, totals } = h;
    return { ...this.#attributes(b, m, h), key, size, totals };
  }

  #replace(target: Target, found: Found, item: Item | undefined, now: Entry | undefined, name: Entry['name']): void {
    this.#add(() => {
      if (item !== undefined) detach(this.#tree, item);
      target.place(name, found).set(now ?? null);
      if (now !== undefined) this.#tree.counters.add(now);
    });
  }

  #add(step: () => void): void {
    this.#steps.push(step);
    if (this.#steps.length > this.#move.most) throw new Refused();
  }
}
