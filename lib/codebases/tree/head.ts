import type { ServiceError } from '../../errors.ts';
import type { DirectoryEntry } from '../../trees/format/entry.ts';
import { digestOf, type Key } from '../../trees/format/keys.ts';

/** The present version of a codebase. Its files and bytes are in the totals of the root. */
export interface Head {
  /** The number of the store that has the objects. */
  readonly store: bigint;
  readonly number: number;
  /** The object of the version. */
  readonly version: Key;
  readonly root: DirectoryEntry;
  /** Inode numbers from here on were never given to anybody. It never gets smaller. */
  readonly nextIno: number;
}

/** Where the head of one codebase is kept. */
export interface Heads {
  /** undefined: the codebase is gone. */
  read(): Head | undefined;
  /** Durable when it resolves. false: the head is no longer `from`. An error: it is, and `to` is refused. */
  advance(from: Head, to: Head): Promise<boolean | ServiceError>;
}

/** Another one after each change, and none that was there before. */
export function revisionOf({ version }: Head): string {
  return digestOf(version)!.toString('hex');
}
