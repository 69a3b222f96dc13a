import { fstatSync, ftruncateSync, linkSync, openSync, rmSync } from 'node:fs';
import type { Steps } from '../../../fuse/connection/steps.ts';
import { closeQuietly } from '../../../linux/close.ts';
import { EIO, ENOSPC, hostErrno } from '../../../linux/errno.ts';
import type { Listed } from '../../divided-list.ts';
import { type BegunSync, OwnSyncs } from '../contents/host-syncs.ts';
import { DurableJournal, type JournalSync } from './durable-journal.ts';
import type { Header } from './header.ts';
import { type JournalLine, LINE, writeLine } from './journal-line.ts';
import { lineInParts, readMore } from './journal-lines.ts';
import { writeMark } from './journal-mark.ts';
import { isFull, type JournalPosition, JournalReserve } from './journal-reserve.ts';
import { type JournalReceiver, linesOf, readMarked } from './read-journal.ts';
import type { Op } from './records.ts';
import { type NewJournal, putInPlace, writeNewJournal } from './replace-journal.ts';

/** Elements up to which a record is written at once. */
const SHORT = 256;

/**
 * An append-only file of JSON lines with checksums, read and written as byte strings, so that names are preserved byte
 * for byte. A line exists completely or not at all: it is passed to the host in one write before the caller continues (a
 * killed server loses nothing), and `loading` truncates a torn last line. Only what was synced survives a power failure.
 * On a full disk, lines that free space wait in a reserve file. The owner calls `close`.
 */
export class Journal {
  readonly #path: string;
  readonly #reserve: JournalReserve;
  readonly #syncs: OwnSyncs;
  readonly #durable: DurableJournal;
  #ino = 0;
  #fd = -1;
  #broken = false;
  /** A line or a new journal is being written in steps. */
  #busy = false;
  /** Size of the file in bytes. */
  #size = 0;
  /** Lines have checksums; false for a journal of an older server that could not be rewritten yet. */
  #sealed = true;
  /** Checksum of the last line. */
  #sum = 0;
  #generation = 0;

  /** `syncs`: makes it durable in another thread; absent: in this one. */
  constructor(path: string, syncs = new OwnSyncs()) {
    this.#path = path;
    this.#syncs = syncs;
    this.#durable = new DurableJournal(path, syncs);
    this.#reserve = new JournalReserve(`${path}.reserve`);
  }

  /** Whether lines have checksums. */
  get sealed(): boolean {
    return this.#sealed;
  }

  /** Generation for the header of the journal that replaces this one. */
  get nextGeneration(): number {
    return this.#generation + 1;
  }

  /** Size of all lines in bytes, including those in the reserve. */
  get size(): number {
    return this.#size + this.#reserve.lines.length;
  }

  /** Reads all complete lines, in steps. Returns the header, if there is one. Throws Damage, also if lines are lost. */
  *loading(receiver: JournalReceiver): Steps<Header | undefined> {
    rmSync(`${this.#path}.new`, { force: true });
    const read = yield* readMarked(this.#path, receiver);
    if (read === undefined) return undefined;
    this.#open();
    if (read.torn) ftruncateSync(this.#fd, read.size);
    this.#size = read.size;
    if (read.header === undefined) return undefined;
    this.#sealed = read.sealed;
    this.#generation = read.header.generation;
    this.#reserve.load(this.#position);
    const { records, sum } = readMore(this.#reserve.lines, read);
    this.#sum = sum;
    yield* receiver.lines(records as Op[][]);
    return read.header;
  }

  /** The lines after the first, which are read again as they are used; with empty ones between them. */
  linesAgain(): Generator<Op[]> {
    return linesOf(this.#path, this.#reserve.lines);
  }

  /** Hard-links the file to `path`, where it is never rewritten. Throws ENOSPC while lines are in the reserve. */
  linkTo(path: string): void {
    if (this.#broken || this.#busy) throw EIO;
    if (!this.#drainReserve()) throw ENOSPC;
    rmSync(path, { force: true });
    linkSync(this.#path, path);
  }

  /**
   * Appends a record, unless it is empty: a change of nothing. `makesRoom`: the record frees space, so it may use the
   * reserve on a full disk. Throws host errors with nothing appended.
   */
  append(record: readonly unknown[], makesRoom = false): void {
    if (this.#broken || this.#busy) throw EIO;
    if (record.length === 0) return;
    this.#append(LINE.encode(record, this.#sealed ? this.#sum : undefined), makesRoom);
    this.#sum = LINE.sum;
  }

  /**
   * As `append`, for a long record in steps. Until its last part is written the line is torn: a crash leaves it, and
   * `loading` truncates it. The caller prevents other appends in the meantime.
   */
  *appending(record: Listed<unknown>, makesRoom = false): Steps<void> {
    if (record.length <= SHORT || !this.#sealed) {
      this.append([...record], makesRoom);
      return;
    }
    yield* this.#alone(this.#appendInParts(record, makesRoom));
  }

  *#appendInParts(record: Listed<unknown>, makesRoom: boolean): Steps<void> {
    const { parts, sum } = yield* lineInParts(record, this.#sum);
    try {
      if (this.#fd === -1) this.#open();
      if (!this.#drainReserve()) throw ENOSPC;
      this.#size += yield* this.#writeParts(parts);
      this.#reserve.make();
    } catch (error) {
      this.#fallBackToReserve(error, makesRoom, parts.join(''));
    }
    this.#sum = sum;
  }

  /** Runs steps between which nothing is appended. */
  *#alone<T>(steps: Steps<T>): Steps<T> {
    if (this.#broken || this.#busy) throw EIO;
    this.#busy = true;
    try {
      return yield* steps;
    } finally {
      this.#busy = false;
    }
  }

  *#writeParts(parts: readonly string[]): Steps<number> {
    let written = 0;
    try {
      for (const part of parts) {
        if (writeLine(this.#fd, part) !== part.length) throw ENOSPC;
        written += part.length;
        yield;
      }
    } catch (error) {
      this.#truncateTornLine();
      throw error;
    }
    return written;
  }

  /** Writes the first line of a new journal. */
  begin(header: readonly unknown[]): void {
    this.append(header);
    writeMark(this.#path, { generation: this.#generation, size: 0 });
  }

  #append(line: JournalLine, makesRoom: boolean): void {
    try {
      if (this.#fd === -1) this.#open();
      if (!this.#drainReserve()) throw ENOSPC;
      this.#write(line);
      this.#reserve.make();
    } catch (error) {
      this.#fallBackToReserve(error, makesRoom, line.text);
    }
  }

  /** Appends the line to the reserve if it frees space on a full disk; throws otherwise. */
  #fallBackToReserve(error: unknown, makesRoom: boolean, line: string): void {
    const errno = hostErrno(error);
    if (!makesRoom || !isFull(errno) || !this.#reserve.add(line, this.#position)) throw errno;
  }

  /** One char is one byte, so a short write means a full disk. */
  #write(text: string | JournalLine): void {
    try {
      if (writeLine(this.#fd, text) !== text.length) throw ENOSPC;
    } catch (error) {
      this.#truncateTornLine();
      throw error;
    }
    this.#size += text.length;
  }

  /** Appends the lines of the reserve first. Returns false if there is no space for them yet. */
  #drainReserve(): boolean {
    const { lines } = this.#reserve;
    if (lines === '') return true;
    try {
      this.#write(lines);
    } catch {
      return false;
    }
    this.#reserve.clear();
    return true;
  }

  get #position(): JournalPosition {
    return { ino: this.#ino, size: this.#size };
  }

  /**
   * Atomically replaces the journal by `records`, in steps: after a crash it is the old or the new one; if this throws,
   * it is the old one. Durable after `confirming` or a sync. The caller prevents appends and changes of what the
   * records describe.
   */
  *rewriting(records: Iterable<readonly unknown[]>): Steps<void> {
    this.replace(yield* this.preparing(records));
    try {
      yield* this.confirming();
    } catch {
      // Until a later call succeeds, a power failure may restore the old file.
    }
  }

  /**
   * The part of `rewriting` before the replacement. The caller calls `replace` with the result. `alongside`: see
   * `writeNewJournal`.
   */
  preparing(records: Iterable<readonly unknown[]>, alongside?: () => BegunSync): Steps<NewJournal> {
    return this.#alone(writeNewJournal(this.#path, records, this.#syncs, alongside));
  }

  /**
   * The replacement, which is the commit point. `first` is called directly before it. Throws its error and host errors,
   * with the old journal in place.
   */
  replace({ fd, ino, size, sum }: NewJournal, first?: () => void): void {
    try {
      first?.();
      putInPlace(this.#path);
    } catch (error) {
      closeQuietly(fd);
      throw error;
    }
    // The new file is the journal: from here on nothing throws, and the caller continues with it.
    this.#durable.replaced(size, this.#fd);
    this.#fd = fd;
    this.#ino = ino;
    this.#size = size;
    this.#sealed = true;
    this.#sum = sum;
    this.#generation++;
    // Not earlier: the reserve belonged to the replaced file.
    this.#reserve.clear();
  }

  /** Makes the replacement of the journal durable, in steps. Throws if that fails. */
  confirming(): Steps<void> {
    return this.#durable.confirming(this.#generation);
  }

  /** Whether all lines are durable already. */
  get isDurable(): boolean {
    return !this.#broken && this.#reserve.toSync === undefined && this.#durable.covers(this.#size);
  }

  /** Begins a sync of all present lines. Throws host errors. */
  beginSync(): JournalSync {
    const generation = this.#generation;
    const size = this.#size;
    const files = this.#fd === -1 ? [] : this.#durable.files(this.#reserve);
    const synced = () => {
      // Not if another journal has replaced it since.
      if (this.#generation === generation && files.length > 0) this.#durable.synced({ generation, size });
    };
    return { files, synced };
  }

  /** Closes the files, without a sync. */
  close(): void {
    if (this.#fd !== -1) closeQuietly(this.#fd);
    this.#fd = -1;
    this.#durable.close();
    this.#reserve.close();
  }

  #open(): void {
    this.#fd = openSync(this.#path, 'a', 0o600);
    this.#ino = fstatSync(this.#fd).ino;
  }

  /** Truncates a torn line. If even that fails, nothing more may be appended. */
  #truncateTornLine(): void {
    try {
      if (this.#fd !== -1) ftruncateSync(this.#fd, this.#size);
    } catch {
      this.#broken = true;
    }
  }
}
