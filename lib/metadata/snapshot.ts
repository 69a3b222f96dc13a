import { createHash, type Hash } from 'node:crypto';
import type { FileSystem } from './durable-file.ts';
import { parseOldState } from './old-format.ts';
import { type Line, readLines } from './read-lines.ts';
import { SharedValues } from './shared-values.ts';
import { applyStored, DamagedError, emptyState, KINDS, type State } from './state.ts';

const VERSION = 2;
/** Characters of records that are one piece; a longer record is one by itself. */
const PIECE = 131_072;

/** Which changes a snapshot contains: those before the first of the segment `log`, which follows the change `sequence`. */
export interface Position {
  readonly log: number;
  readonly sequence: number;
}

export interface Snapshot {
  state: State;
  /** undefined: of a server without a log. */
  position: Position | undefined;
  bytes: number;
}

/**
 * The text of a snapshot: a line with its version and position, one for each record, and one with their number and the
 * checksum of all lines before. A piece takes the main thread about a millisecond, or ten if it has a sandbox with 2 MiB of rules.
 * The state may change between two pieces: a record that does has its old form in the snapshot, or its new one.
 */
export function* snapshotPieces(state: State, position: Position): Generator<Buffer> {
  const hash = createHash('sha256');
  let text = `${JSON.stringify({ version: VERSION, ...position })}\n`;
  let records = 0;
  const piece = () => {
    const bytes = Buffer.from(text);
    text = '';
    hash.update(bytes);
    return bytes;
  };
  for (const kind of KINDS) {
    for (const record of state[kind].values()) {
      text += `${JSON.stringify([kind, record])}\n`;
      records++;
      if (text.length >= PIECE) yield piece();
    }
  }
  yield piece();
  yield Buffer.from(`${JSON.stringify({ records, sha256: hash.digest('hex') })}\n`);
}

/** Reads the file of this or an older version; throws DamagedError. */
export async function readSnapshot(path: string, fileSystem: Pick<FileSystem, 'open' | 'readFile'>): Promise<Snapshot> {
  let reader: SnapshotReader | undefined;
  const bytes = await readLines(path, fileSystem, (line) => {
    if (reader !== undefined) reader.add(line);
    else {
      const position = positionIn(line.bytes);
      if (position === undefined) return false;
      reader = new SnapshotReader(position);
    }
    reader.cover(line);
    return true;
  });
  if (reader !== undefined) return { ...reader.end(), bytes };
  const content = await fileSystem.readFile(path);
  return { state: parseOldState(content.toString('utf8')), position: undefined, bytes: content.length };
}

/** undefined: it is not the first line of this version. */
function positionIn(line: Buffer): Position | undefined {
  const first = parsed(line) as ({ version?: unknown } & Partial<Position>) | undefined | null;
  if (first?.version !== VERSION) return undefined;
  const { log, sequence } = first;
  if (!Number.isSafeInteger(log) || !Number.isSafeInteger(sequence)) throw new DamagedError('does not name its log');
  return { log: log!, sequence: sequence! };
}

class SnapshotReader {
  readonly #position: Position;
  readonly #state = emptyState();
  readonly #shared = new SharedValues();
  readonly #hash: Hash = createHash('sha256');
  #records = 0;
  #ended = false;

  constructor(position: Position) {
    this.#position = position;
  }

  add({ bytes, offset, isWhole }: Line): void {
    if (this.#ended) throw new DamagedError(`has more at byte ${offset} than it should`);
    const value = isWhole ? parsed(bytes) : undefined;
    if (Array.isArray(value)) {
      this.#records++;
      applyStored(this.#state, value, this.#shared);
    } else this.#checkEnd(value, offset);
  }

  /** For the checksum of what precedes the last line. */
  cover({ bytes }: Line): void {
    if (!this.#ended) this.#hash.update(bytes).update('\n');
  }

  end(): Pick<Snapshot, 'state' | 'position'> {
    if (!this.#ended) throw new DamagedError('is not whole');
    return { state: this.#state, position: this.#position };
  }

  /** A file repaired by hand omits the checksum. */
  #checkEnd(value: unknown, offset: number): void {
    const { records, sha256 } = (value ?? {}) as { records?: unknown; sha256?: unknown };
    if (typeof records !== 'number') throw new DamagedError(`is damaged at byte ${offset}`);
    if (sha256 !== undefined && sha256 !== this.#hash.copy().digest('hex')) {
      throw new DamagedError('does not match its checksum');
    }
    if (sha256 !== undefined && records !== this.#records) throw new DamagedError(`is not whole`);
    this.#ended = true;
  }
}

/** undefined: it is not JSON. */
function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}
