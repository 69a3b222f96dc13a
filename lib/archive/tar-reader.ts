import { invalidArchive } from './invalid-archive.ts';
import { paxRecords } from './pax-records.ts';
import {
  BLOCK,
  checkHeader,
  type Entry,
  type ExtendedFields,
  entryOf,
  isEnd,
  sizeOf,
  textAt,
  typeOf,
} from './tar-header.ts';

/** Receives the members of an archive, in its order. */
export interface ArchiveSink {
  /** A member. For a file, `content` and then `end` follow. */
  begin(entry: Entry): void;
  /** Next bytes of a file's content; valid only during the call. */
  content(bytes: Buffer): void;
  /** The content of a file is complete. */
  end(): void;
}

/** Maximum bytes of an extended header or long name: far above any path. */
const MAX_RECORD = 64 * 1024;

type State = 'header' | 'record' | 'content' | 'padding' | 'done';

/**
 * Reads a POSIX (ustar, pax) or GNU archive from pieces of any length, and passes its members to a sink at once. Throws
 * INVALID_ARGUMENT for data that is not an archive, is truncated, or contains types other than files, directories and
 * links. Holds at most one record in memory.
 */
export class TarReader {
  readonly #sink: ArchiveSink;
  readonly #ignored: string;
  #state: State = 'header';
  /** Bytes that the state still needs. */
  #left = BLOCK;
  #padding = 0;
  /** Parts of a header or record that came in several pieces. */
  #held: Buffer[] = [];
  #recordType = '';
  #recordSize = 0;
  #fields: ExtendedFields = {};

  /** `ignored`: type flags of members that are left out. */
  constructor(sink: ArchiveSink, ignored = '') {
    this.#sink = sink;
    this.#ignored = ignored;
  }

  /** Whether the end of the archive was read; further bytes are ignored. */
  get isDone(): boolean {
    return this.#state === 'done';
  }

  /** Reads the next bytes. */
  feed(piece: Buffer): void {
    for (let at = 0; at < piece.length && this.#state !== 'done'; ) {
      const part = at === 0 && piece.length <= this.#left ? piece : piece.subarray(at, at + this.#left);
      at += part.length;
      this.#left -= part.length;
      this.#take(part);
    }
  }

  /** Call at the end of the input. */
  finish(): void {
    if (this.#state !== 'done') throw invalidArchive('it is truncated');
  }

  #take(part: Buffer): void {
    switch (this.#state) {
      case 'content':
        this.#sink.content(part);
        if (this.#left === 0) this.#contentEnds();
        return;
      case 'padding':
        if (this.#left === 0) this.#await('header', BLOCK);
        return;
      default:
        if (this.#left > 0) {
          this.#held.push(Buffer.from(part));
          return;
        }
        this.#whole(this.#held.length === 0 ? part : Buffer.concat([...this.#held, part]));
    }
  }

  #whole(bytes: Buffer): void {
    this.#held = [];
    if (this.#state === 'header') this.#header(bytes);
    else this.#record(bytes.subarray(0, this.#recordSize));
  }

  #header(header: Buffer): void {
    if (isEnd(header)) {
      this.#await('done', 0);
      return;
    }
    checkHeader(header);
    const type = typeOf(header);
    if ('xgLK'.includes(type)) {
      this.#recordType = type;
      this.#recordSize = sizeOf(header);
      if (this.#recordSize > MAX_RECORD) throw invalidArchive(`a record has more than ${MAX_RECORD} bytes`);
      if (this.#recordSize === 0) this.#record(header.subarray(0, 0));
      else this.#await('record', Math.ceil(this.#recordSize / BLOCK) * BLOCK);
      return;
    }
    if (this.#ignored.includes(type)) {
      this.#fields = {};
      const size = Math.ceil(sizeOf(header) / BLOCK) * BLOCK;
      if (size > 0) this.#await('padding', size);
      else this.#await('header', BLOCK);
      return;
    }
    const entry = entryOf(header, this.#fields);
    this.#fields = {};
    this.#sink.begin(entry);
    this.#padding = (BLOCK - (entry.size % BLOCK)) % BLOCK;
    if (entry.size > 0) this.#await('content', entry.size);
    else if (entry.type === 'file') this.#contentEnds();
    else this.#await('header', BLOCK);
  }

  #record(record: Buffer): void {
    if (this.#recordType === 'x') this.#fields = { ...this.#fields, ...paxRecords(record) };
    if (this.#recordType === 'L') this.#fields.path = textAt(record, 0, record.length);
    if (this.#recordType === 'K') this.#fields.linkpath = textAt(record, 0, record.length);
    this.#await('header', BLOCK);
  }

  #contentEnds(): void {
    this.#sink.end();
    if (this.#padding > 0) this.#await('padding', this.#padding);
    else this.#await('header', BLOCK);
  }

  #await(state: State, bytes: number): void {
    this.#state = state;
    this.#left = bytes;
  }
}
