import type { ByteString } from '../../../byte-string.ts';
import type { DirectoryEntry, Entry, Time } from '../../../trees/format/entry.ts';
import type { Key } from '../../../trees/format/keys.ts';

/**
 * What a journal calls a directory or a file: a number from 1 on, given in this order by `own`, by `thaw`, and by `put` of
 * a regular file. 0 is the root. Each journal begins anew. So a journal may be replayed on the tree from which the freeze
 * was made that began it, as well as on the frozen one: there, what it makes own may be own already, and only gets its
 * number.
 */
export type Id = number;

export const ROOT_DIRECTORY: Id = 0;

export type Link = readonly [directory: Id, name: ByteString];

/** What can be set of a file or a directory; all of it in each record. */
export type Attributes = Pick<Entry, 'mode' | 'mtime' | 'mtimeNs' | 'ctime' | 'ctimeNs' | 'atime' | 'owner'>;

export interface Root {
  readonly version: number;
  /** What the sandbox has seen of its codebase. */
  readonly base: DirectoryEntry;
}

/** Where contents are, and how large. */
export type Contents = Pick<Entry, 'key' | 'size' | 'holes'>;

/** `time`: of the change, which the directories get as mtime and ctime, and what is moved, linked or unlinked as ctime. */
interface Timed {
  readonly time: Time;
}

/** One change of a tree. A record is there completely or not at all; replayed in their order they make the same tree. */
export type JournalRecord =
  /** The directory gets a number, and may have names of its own from now on. Nobody sees a difference. */
  | { readonly op: 'own'; readonly at: Link }
  /** A file gets a number, and may change from now on. `links`: all its names, at least one. */
  | { readonly op: 'thaw'; readonly links: readonly Link[] }
  /**
   * The name has this entry from now on, alone or with all that is in it. A regular file gets a number. What the name had
   * before, no directory, loses it.
   */
  | ({ readonly op: 'put'; readonly at: Link; readonly entry: Entry } & Timed)
  /** The name is removed; a directory is empty. */
  | ({ readonly op: 'drop'; readonly at: Link } & Timed)
  /** `exchange`: both names exist, and each gets what the other has. Else `to` loses what it has. */
  | ({ readonly op: 'move'; readonly from: Link; readonly to: Link; readonly exchange: boolean } & Timed)
  /** One more name of a file. */
  | ({ readonly op: 'link'; readonly file: Id; readonly at: Link } & Timed)
  | { readonly op: 'attr'; readonly of: Id; readonly attributes: Attributes }
  /** Other contents of a file, or more, or less. The key has their place and crc. */
  | ({ readonly op: 'data'; readonly file: Id } & Contents & Timed)
  /** Whether the contents are text that an agent wrote. */
  | { readonly op: 'text'; readonly file: Id; readonly agentText: boolean }
  /**
   * Base is another one. `takes`: head has moved, and what the sandbox has not changed is head's from now on (`take`);
   * else only base changes, after a commit of the sandbox itself.
   */
  | ({ readonly op: 'base'; readonly takes: boolean } & Root)
  /**
   * The frozen tree `from` becomes `mine` below what was changed since (`swap`): after a rollback, a discard, a commit, or
   * when `take` was not possible. The objects of `mine` are durable.
   */
  | ({ readonly op: 'root'; readonly from: Key; readonly mine: DirectoryEntry } & Root);

/**
 * Where records go before anything changes in memory. `base` and `root` are differences of trees, found by their keys, and a
 * freeze gives other keys to the same tree. So both are only written while `isRooted`.
 */
export interface Journal {
  /** Bytes of its records since its beginning. */
  readonly bytes: number;
  /**
   * The root that the records go on from is durable, and no crash brings an older one back. Until then they may be replayed on
   * the tree from which the freeze was made.
   */
  readonly isRooted: boolean;
  /** `makesRoom`: the change frees space, so that a full disk must not prevent it. Throws with nothing written. */
  append(record: JournalRecord, makesRoom: boolean): void;
}
