import type { Disk } from '../../../disk/disk.ts';
import type { Mark } from '../disk/mark.ts';
import type { NewNames } from '../disk/new-names.ts';
import type { SyncStep } from '../disk/sync-steps.ts';
import type { JournalEnd, TreeRoot } from '../disk/tree-root.ts';
import type { Unsynced } from '../disk/unsynced.ts';
import { JOURNAL, journalPath, placeIn, type ReadJournal } from './chain.ts';
import { JournalFile } from './journal-file.ts';
import type { Named } from './named.ts';
import type { Journal, JournalRecord } from './records.ts';

export interface JournalsIn {
  readonly disk: Disk;
  readonly folder: string;
  readonly names: NewNames;
  /** 32 bits that nobody knows. */
  readonly random: () => number;
}

/**
 * The journals that go on from the last durable root: one for each freeze that has begun since, and the one that is written.
 * All are synced together: what was written to an earlier one is needed until a later root is durable.
 */
export class Journals implements Omit<Journal, 'isRooted'>, Unsynced {
  readonly #in: JournalsIn;
  readonly #store: bigint;
  /** The last one is written. None before the first record after a root. */
  #files: JournalFile[];
  #generation: number;
  /** Of the journal before the one that is written. */
  #former: JournalEnd;
  #covered: readonly { readonly file: JournalFile; readonly end: number }[] = [];
  /** Also when opened: the server before may have ended after a sync that failed. */
  #failed = true;

  constructor(where: JournalsIn, root: TreeRoot, read: readonly ReadJournal[]) {
    this.#in = where;
    this.#store = root.store;
    this.#files = read.map((journal) => new JournalFile(where.disk, journal, where.random()));
    this.#generation = read.at(-1)?.generation ?? root.generation;
    this.#former = read.at(-2)?.at ?? root.former;
  }

  /** Of the journal that is written. */
  get bytes(): number {
    return this.at.end;
  }

  /** Where the next record will be. */
  get at(): Mark {
    return placeIn(this.#generation, this.#written?.at);
  }

  /** What their records name. */
  get named(): Named[] {
    return this.#files.map(({ named }) => named);
  }

  append(record: JournalRecord, makesRoom: boolean): void {
    const file = this.#written ?? this.#create(this.#generation, this.#former);
    file.append(record, makesRoom);
  }

  /** Begins the next journal, and says which: what a root keeps of it. Throws host errors with nothing begun. */
  begin(): Pick<TreeRoot, 'generation' | 'former'> {
    const former = (this.#written ?? this.#create(this.#generation, this.#former)).at;
    this.#create(this.#generation + 1, former);
    this.#generation++;
    this.#former = former;
    return { generation: this.#generation, former };
  }

  /** Removes the journals before one, when the root from which that goes on is durable. */
  freeBefore(generation: number): void {
    const { disk, folder } = this.#in;
    for (const file of this.#files) if (file.generation < generation) file.close();
    this.#files = this.#files.filter((file) => file.generation >= generation);
    try {
      for (const name of disk.readdir(folder)) if (numberOf(name) < generation) disk.unlink(`${folder}/${name}`);
    } catch {
      // The next freeze.
    }
  }

  steps(): SyncStep[] {
    const files = this.#files.filter((file) => file.synced < file.at.end);
    if (this.#failed) for (const file of files) file.rewrite();
    this.#failed = false;
    this.#covered = files.map((file) => ({ file, end: file.at.end }));
    return files.map(({ fd }) => ({ datasync: fd }));
  }

  synced(): void {
    for (const { file, end } of this.#covered) file.synced = end;
  }

  syncFailed(): void {
    this.#failed = true;
    for (const { file } of this.#covered) file.synced = 0;
  }

  /** `root`: the generation of the last root. Its journal is removed if it is empty: its zeros take space. */
  close(root: number): void {
    const { disk, folder } = this.#in;
    const isUnused = root === this.#generation && this.#written?.isEmpty;
    for (const file of this.#files) file.close();
    this.#files = [];
    if (isUnused) disk.unlink(journalPath(folder, root));
  }

  get #written(): JournalFile | undefined {
    const last = this.#files.at(-1);
    return last?.generation === this.#generation ? last : undefined;
  }

  #create(generation: number, former: JournalEnd): JournalFile {
    const { disk, folder, names, random } = this.#in;
    const header = { store: this.#store, generation, former, salt: random() };
    const file = JournalFile.create(disk, journalPath(folder, generation), header);
    names.add(folder);
    this.#files.push(file);
    return file;
  }
}

function numberOf(name: string): number {
  return name.startsWith(JOURNAL) ? Number(name.slice(JOURNAL.length)) : Number.NaN;
}
