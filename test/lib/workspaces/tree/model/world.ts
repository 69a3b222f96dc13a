import { AbsentObject, type Source } from '../../../../../lib/trees/directory/source.ts';
import type { DirectoryEntry, Entry } from '../../../../../lib/trees/format/entry.ts';
import { type Key, slotKey } from '../../../../../lib/trees/format/keys.ts';
import { Epochs } from '../../../../../lib/workspaces/tree/epochs.ts';
import { type Frozen, freeze } from '../../../../../lib/workspaces/tree/freeze.ts';
import type { JournalRecord, Root } from '../../../../../lib/workspaces/tree/journal/records.ts';
import { Replay } from '../../../../../lib/workspaces/tree/journal/replay.ts';
import { LiveTree } from '../../../../../lib/workspaces/tree/live-tree.ts';
import { withEntry } from '../../../trees/edit.ts';
import { Memory } from '../../../trees/memory.ts';
import { directoryEntry } from '../../../trees/random.ts';
import { countOf, difference, flatOf } from '../flat.ts';
import { JournalFull, MemoryJournal } from '../memory-journal.ts';

/** The records of a journal, done by another tree. */
interface Shadow {
  readonly tree: LiveTree;
  readonly replay: Replay;
}

/**
 * A live tree, and beside it what a crash would make of its journals at each moment: the present one replayed on the frozen
 * tree, and on the one from which it was frozen.
 */
export class World {
  readonly memory = new Memory();
  readonly live: LiveTree;
  head: Root;
  #loadsLeft = Number.POSITIVE_INFINITY;
  #journal: MemoryJournal;
  #shadows: Shadow[] = [];
  #slot = 0;
  #ino = 10;

  constructor(head: (world: World) => Entry) {
    this.head = { version: 1, base: head(this) as DirectoryEntry };
    const source: Source = {
      load: (key) => {
        if (this.#loadsLeft-- <= 0) throw new AbsentObject(key, 'postponed');
        return this.memory.load(key);
      },
    };
    this.#journal = this.#newJournal();
    this.live = this.#tree(source, this.head.base, this.head, this.#journal);
    this.#shadows = [this.#fresh()];
  }

  ino(): number {
    return this.#ino++;
  }

  directory(): Entry {
    return directoryEntry('', { ino: this.ino() });
  }

  with(tree: Entry, path: string, entry: Entry | undefined): Entry {
    return withEntry(this.memory, this.memory.hashed, tree, path, entry);
  }

  /** Contents of the sandbox. */
  newKey(): Key {
    const place = { class: 0, slot: this.#slot++, sequence: 1, crc: 0 };
    return slotKey({ store: 7n, ...place, birth: this.live.epochs.epoch });
  }

  /** With all that must hold after it. */
  freeze(shared: boolean): Frozen {
    const before = flatOf(this.live);
    const journal = this.#newJournal();
    const frozen = freeze(this.live, this.memory.placed, () => journal, shared);
    this.#journal = journal;
    journal.isRooted = false;
    same(before, flatOf(this.live), 'a freeze changed something');
    check(this.live.root.patch.size === 0 && this.live.counters.patched === 0, 'a patch is left');
    const unfrozen = this.#shadows[0];
    check(unfrozen?.tree.base.version === this.live.base.version, 'the former journal does not have base');
    this.#shadows = [this.#fresh()];
    if (unfrozen !== undefined) this.#shadows.push({ tree: unfrozen.tree, replay: new Replay(unfrozen.tree) });
    return frozen;
  }

  /** The root of the last freeze: no crash replays what comes now on the tree of before. */
  becomesDurable(): void {
    this.#journal.isRooted = true;
    this.#shadows.length = 1;
  }

  /** A change that may fail half-way; then nothing has changed, and it is made again. */
  attempt<Answer>(change: () => Answer, fails: { loads?: number; records?: number }): Answer {
    const [before, count] = [flatOf(this.live), JSON.stringify(this.live.totals)];
    this.#loadsLeft = fails.loads ?? Number.POSITIVE_INFINITY;
    this.#journal.failsAfter = fails.records ?? Number.POSITIVE_INFINITY;
    try {
      return change();
    } catch (error) {
      if (!(error instanceof AbsentObject || error instanceof JournalFull)) throw error;
    } finally {
      this.#loadsLeft = this.#journal.failsAfter = Number.POSITIVE_INFINITY;
    }
    same(flatOf(this.live), before, 'a change that failed changed something');
    check(JSON.stringify(this.live.totals) === count, 'a change that failed changed the counters');
    return change();
  }

  /** The replayed trees are equal to the live one, once its base is recorded; and the counters to a full count. */
  compare(): void {
    const { live } = this;
    const flat = flatOf(live);
    const counted = JSON.stringify(countOf(live));
    check(JSON.stringify(live.totals) === counted, `counters ${JSON.stringify(live.totals)} instead of ${counted}`);
    for (const [index, { tree }] of this.#shadows.entries()) {
      if (tree.base.version !== live.base.version) continue;
      const which = index === 0 ? 'the frozen tree' : 'the tree before the freeze';
      same(flatOf(tree), flat, `the journal on ${which} makes another tree`);
      check(JSON.stringify(tree.totals) === JSON.stringify(countOf(tree)), `counters of a replay on ${which}`);
    }
  }

  #newJournal(): MemoryJournal {
    return new MemoryJournal((record) => {
      for (const [index, { replay }] of this.#shadows.entries()) this.#replay(replay, record, index);
    });
  }

  #replay(replay: Replay, record: JournalRecord, index: number): void {
    try {
      replay.apply(record);
    } catch (error) {
      throw new Error(`replay ${index} of ${JSON.stringify(record).slice(0, 200)}: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }

  #fresh(): Shadow {
    const { frozen, base } = this.live;
    const tree = this.#tree(this.memory, frozen, base, new MemoryJournal());
    return { tree, replay: new Replay(tree) };
  }

  #tree(source: Source, frozen: DirectoryEntry, base: Root, journal: MemoryJournal): LiveTree {
    const epochs = new Epochs(STORE, 1, 0);
    return new LiveTree({ source, frozen, base, journal, epochs });
  }
}

const STORE = slotKey({ store: 7n, class: 0, slot: 0, sequence: 0, birth: 0, crc: 0 }).slice(1, 9);

export function same(a: ReturnType<typeof flatOf>, b: ReturnType<typeof flatOf>, what: string): void {
  const found = difference(a, b);
  if (found !== '') throw new Error(`${what}: ${found}`);
}

export function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}
