import type { ByteString } from '../../../byte-string.ts';
import { Errno } from '../../../linux/errno.ts';
import { setAttributes, setData, setText } from '../changes/contents.ts';
import { move } from '../changes/move.ts';
import { drop, link, put } from '../changes/names.ts';
import { thawAt } from '../changes/thaw.ts';
import { HeadMove } from '../exchange/head-move.ts';
import { planSwap } from '../exchange/swap.ts';
import { planTake } from '../exchange/take.ts';
import type { GivenNumbers } from '../given-numbers.ts';
import { isDirectoryItem, OwnDirectory, OwnFile } from '../items.ts';
import type { LiveTree } from '../live-tree.ts';
import type { Id, Journal, JournalRecord, Link } from './records.ts';

/** A record that does not fit to the tree: the journal is damaged, or that of another tree. */
export class RecordError extends Error {
  override readonly name = 'RecordError';
}

/** What a replay does is in the journal already. */
const NOWHERE: Journal = { bytes: 0, isRooted: true, append: () => {} };

/**
 * Does what the records of one journal say, on the tree that this journal continues. Afterwards the tree may go on in the
 * same journal. Throws RecordError, and AbsentObject; the tree is of no use then.
 */
export class Replay {
  readonly #tree: LiveTree;
  readonly #numbered: (OwnDirectory | OwnFile)[];

  constructor(tree: LiveTree) {
    this.#tree = tree;
    this.#numbered = [tree.root];
    tree.numbering.begin(tree.root);
  }

  apply(record: JournalRecord): void {
    const { journal } = this.#tree;
    this.#tree.journal = NOWHERE;
    try {
      this.#apply(record);
    } catch (error) {
      throw error instanceof Errno ? new RecordError(`a record "${record.op}" that cannot be: ${error.errno}`) : error;
    } finally {
      this.#tree.journal = journal;
    }
  }

  #apply(record: JournalRecord): void {
    switch (record.op) {
      case 'own':
        this.#number(this.#tree.own(...this.#at(record.at)));
        break;
      case 'thaw':
        this.#number(this.#thaw(record.links));
        break;
      case 'put': {
        const { item } = put(this.#tree, ...this.#at(record.at), record.entry, record.time);
        if (item instanceof OwnFile) this.#numbered.push(item);
        break;
      }
      case 'drop':
        drop(this.#tree, ...this.#at(record.at), record.time);
        break;
      case 'move': {
        const how = record.exchange ? 'exchange' : 'replace';
        move(this.#tree, this.#name(record.from), this.#name(record.to), how, record.time);
        break;
      }
      case 'link':
        link(this.#tree, this.#file(record.file), ...this.#at(record.at), record.time);
        break;
      case 'attr':
        setAttributes(this.#tree, this.#item(record.of), record.attributes);
        break;
      case 'data':
        setData(this.#tree, this.#file(record.file), record, record.time);
        break;
      case 'text':
        setText(this.#tree, this.#file(record.file), record.agentText);
        break;
      default:
        this.#exchange(record);
    }
  }

  #exchange(record: Extract<JournalRecord, { op: 'base' | 'root' }>): void {
    const { version, base } = record;
    const { source, base: before } = this.#tree;
    if (record.op === 'root') run(planSwap(this.#tree, record.from, record.mine), record);
    else if (record.takes)
      run(planTake(this.#tree, new HeadMove(source, before.base, base, Number.POSITIVE_INFINITY)), record);
    this.#tree.base = { version, base };
  }

  /** On the tree from which the freeze was made the file is own, and has these names already. */
  #thaw(links: readonly Link[]): OwnFile {
    const places = links.map((at) => this.#tree.place(...this.#at(at)));
    const item = places[0]?.item;
    if (item instanceof OwnFile) return item;
    if (item === undefined || isDirectoryItem(item)) throw new RecordError('a record "thaw" of no file');
    return thawAt(this.#tree, item, places);
  }

  #number(item: OwnDirectory | OwnFile): void {
    this.#tree.numbering.give(item);
    this.#numbered.push(item);
  }

  #at([directory, name]: Link): [dir: OwnDirectory, name: ByteString] {
    const item = this.#item(directory);
    if (item instanceof OwnDirectory) return [item, name];
    throw new RecordError(`the number ${directory}, of a file, for a directory`);
  }

  #name(at: Link): { dir: OwnDirectory; name: ByteString } {
    const [dir, name] = this.#at(at);
    return { dir, name };
  }

  #file(id: Id): OwnFile {
    const item = this.#item(id);
    if (item instanceof OwnFile) return item;
    throw new RecordError(`the number ${id}, of a directory, for a file`);
  }

  #item(id: Id): OwnDirectory | OwnFile {
    const item = this.#numbered[id];
    if (item !== undefined && this.#tree.numbering.of(item) !== undefined) return item;
    throw new RecordError(`the number ${id}, which nothing has`);
  }
}

/**
 * Replays all journals that go on from a root, in steps of one record. Each but the first began with a freeze, after which the
 * crash came before its root was durable: what was made since then was born in a later epoch than the root says. `given` is
 * what the owner goes on with.
 */
export function* replaying(
  tree: LiveTree,
  journals: Iterable<Iterable<JournalRecord>>,
  given: GivenNumbers,
): Generator<void, void, void> {
  let isFirst = true;
  for (const records of journals) {
    if (!isFirst) tree.epochs.next(false);
    isFirst = false;
    const replay = new Replay(tree);
    for (const record of records) {
      yield* given.noting(tree.source, record);
      replay.apply(record);
      yield;
    }
  }
}

function run(plan: (() => void) | undefined, { op }: JournalRecord): void {
  if (plan === undefined) throw new RecordError(`a record "${op}" that the tree does not fit to`);
  plan();
}
