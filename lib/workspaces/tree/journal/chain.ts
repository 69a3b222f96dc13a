import type { Disk } from '../../../disk/disk.ts';
import { EIO } from '../../../linux/errno.ts';
import { FormatError } from '../../../trees/format/format-error.ts';
import { Damage } from '../../delta/damage.ts';
import { FieldReader } from '../disk/fields.ts';
import { openIfThere } from '../disk/files.ts';
import type { Mark } from '../disk/mark.ts';
import type { JournalEnd, TreeRoot } from '../disk/tree-root.ts';
import { decodeRecord } from './decode-record.ts';
import { FRAME_BYTES, frameAt } from './frames.ts';
import { decodeHeader, HEADER_BYTES, headerCrc, type JournalHeader } from './header.ts';
import { Named } from './named.ts';
import { SALT } from './ops.ts';
import type { JournalRecord } from './records.ts';

/** A journal of the chain that was read. */
export interface ReadJournal {
  readonly generation: number;
  readonly fd: number;
  readonly at: JournalEnd;
  readonly named: Named;
}

interface Opened {
  readonly fd: number;
  readonly header: JournalHeader;
  readonly bytes: Buffer;
}

/** What names of journals begin with. Their number follows. */
export const JOURNAL = 'journal.';

export function journalPath(folder: string, generation: number): string {
  return `${folder}/${JOURNAL}${generation}`;
}

/**
 * Reads the journals that go on from a root, each from the end of the one before. A journal ends before the first record that
 * is torn or does not go on. If that is earlier than where the next one began, the next one is ignored.
 */
export class JournalChain {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #root: TreeRoot;
  readonly #open = new Set<number>();
  /** Those that were read to their end. They are open; the owner closes them, or calls `close`. */
  readonly read: ReadJournal[] = [];

  constructor(disk: Disk, folder: string, root: TreeRoot) {
    this.#disk = disk;
    this.#folder = folder;
    this.#root = root;
  }

  /** The place behind the last record. */
  get at(): Mark {
    const { generation, at } = this.read.at(-1) ?? { generation: this.#root.generation, at: undefined };
    return placeIn(generation, at);
  }

  /**
   * The records of each journal, to be read in this order and to their end. Throws Damage for records that no server writes,
   * and host errors.
   */
  *journals(): Generator<Generator<JournalRecord, void, void>, void, void> {
    let journal = this.#find(this.#root.generation, (former) => isSame(former, this.#root.former));
    while (journal !== undefined) {
      const { generation } = journal.header;
      const next = this.#find(generation + 1, () => true);
      yield this.#records(journal, next?.header.former);
      const { at } = this.read.at(-1)!;
      if (next !== undefined && !isSame(next.header.former, at)) {
        this.#close(next.fd);
        return;
      }
      journal = next;
    }
  }

  /** Closes all journals, also those that were read. */
  close(): void {
    for (const fd of this.#open) this.#close(fd);
  }

  *#records({ fd, header, bytes }: Opened, until: JournalEnd | undefined): Generator<JournalRecord, void, void> {
    let at: JournalEnd = { end: HEADER_BYTES, crc: headerCrc(bytes) };
    const named = new Named();
    while (until === undefined || !isSame(at, until)) {
      const frame = frameAt(bytes, at.end, at.crc);
      if (frame === undefined) break;
      const start = at.end + FRAME_BYTES;
      if (bytes[start] !== SALT) {
        const record = this.#record(header, new FieldReader(bytes, start, frame.end));
        named.note(record);
        yield record;
      }
      at = frame;
    }
    this.read.push({ generation: header.generation, fd, at, named });
  }

  #record({ generation }: JournalHeader, from: FieldReader): JournalRecord {
    try {
      return decodeRecord(from);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      const path = journalPath(this.#folder, generation);
      throw new Damage(`its journal has a record that no server writes: ${error.message}`, path);
    }
  }

  /** undefined: there is none, or none of this store with this number that goes on from there. */
  #find(generation: number, goesOn: (former: JournalEnd) => boolean): Opened | undefined {
    const fd = openIfThere(this.#disk, journalPath(this.#folder, generation));
    if (fd === undefined) return undefined;
    this.#open.add(fd);
    const bytes = Buffer.allocUnsafeSlow(this.#disk.size(fd));
    if (this.#disk.pread(fd, bytes, 0) < bytes.length) throw EIO;
    const header = decodeHeader(bytes);
    const isIts = header?.store === this.#root.store && header.generation === generation;
    if (isIts && goesOn(header.former)) return { fd, header, bytes };
    this.#close(fd);
    return undefined;
  }

  #close(fd: number): void {
    this.#open.delete(fd);
    this.#disk.close(fd);
  }
}

/** A journal without records counts as none: whether it is there makes no difference. */
export function placeIn(generation: number, at: JournalEnd | undefined): Mark {
  return { generation, end: at === undefined || at.end === HEADER_BYTES ? 0 : at.end };
}

function isSame(a: JournalEnd, b: JournalEnd): boolean {
  return a.end === b.end && a.crc === b.crc;
}
