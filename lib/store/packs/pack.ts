import { errorCode } from '../../linux/errno.ts';
import type { Key } from '../../trees/format/keys.ts';
import { isRecordOf, type Packed, RECORD_HEADER } from './record.ts';

/** A file with many objects. */
export interface Pack {
  /** 32 hex digits. */
  readonly name: string;
  /** Of its records: `seedOf`. */
  readonly seed: number;
  readonly sealed: boolean;
  readonly objects: number;
  /** Of its records. */
  readonly bytes: number;
  find(key: Key): Packed | undefined;
  records(): Iterable<Packed>;
  /** The header of the record and its payload, as they are. Shorter if the file is. */
  read(record: Packed): Buffer;
  /** Where the payload is; valid until the next call. */
  fd(record: Packed): number;
  /** Holds no descriptor any more. */
  close(): void;
  remove(): void;
}

export type PackInfo = Pick<Pack, 'name' | 'sealed' | 'objects' | 'bytes'>;

/** Whether the object is there with these bytes: an index says no more than that it was. */
export function holds(pack: Pack, record: Packed, payload: Uint8Array): boolean {
  const bytes = pack.read(record);
  return (
    isRecordOf(bytes, pack.seed, record.key, payload.length) &&
    bytes.length === RECORD_HEADER + payload.length &&
    bytes.compare(payload, 0, payload.length, RECORD_HEADER) === 0
  );
}

/** Without an error: of a file that is given up. */
export function quietly(call: () => void): boolean {
  try {
    call();
    return true;
  } catch {
    return false;
  }
}

/** undefined if the file is damaged or gone. Other errors, like too many open files, say nothing about it. */
export function ifReadable<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EIO' || code === 'ENOENT') return undefined;
    throw error;
  }
}
