import { Damage } from '../damage.ts';

/** First field of the first line of a journal. */
export const FORMAT = 'paddock-delta';
/** The version that is written. */
export const VERSION = 4;
/** The version without checksums and generations; it is read and converted. */
const UNSEALED_VERSION = 3;

/** The contents of the first line of every journal. */
export interface Header {
  version: number;
  /** The table's counters of ids and inode numbers when the journal was written. */
  nextId: number;
  nextIno: number;
  /** The writable layer. */
  top: string;
  /** The frozen layers that are needed. */
  below: readonly string[];
  /** The frozen layer whose index this journal extends, or ''. */
  parentLayer: string;
  /** Number of journals of this delta that were replaced before. */
  generation: number;
}

/** The first line as it is encoded. */
export type HeaderRecord = readonly [
  format: typeof FORMAT,
  version: number,
  nextId: number,
  nextIno: number,
  top: string,
  below: readonly string[],
  parentLayer: string,
  /** Absent in version 3. */
  generation?: number,
];

/** Decodes the first line of a journal. Throws Damage for another format or an unsupported version. */
export function decodeHeader(record: readonly unknown[]): Header {
  const [format, version, nextId, nextIno, top, below, parentLayer, generation = 0] = record as HeaderRecord;
  if (format !== FORMAT || (version !== VERSION && version !== UNSEALED_VERSION)) {
    throw new Damage(`it is not a delta of version ${UNSEALED_VERSION} or ${VERSION}`);
  }
  return { version, nextId, nextIno, top, below, parentLayer, generation };
}

/** Encodes the first line of a journal of the present version. */
export function encodeHeader(header: Omit<Header, 'version'>): HeaderRecord {
  const { nextId, nextIno, top, below, parentLayer, generation } = header;
  return [FORMAT, VERSION, nextId, nextIno, top, below, parentLayer, generation];
}
