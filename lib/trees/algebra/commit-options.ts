import type { ByteString } from '../../byte-string.ts';
import type { Sink } from '../directory/source.ts';
import type { Entry, Time } from '../format/entry.ts';
import type { Choice } from './choice.ts';
import type { Comparison } from './comparison.ts';

/** Whose version wins at a chosen path that both sides have changed; empty: nobody's, and nothing is committed. */
export type OnConflict = '' | 'ours' | 'theirs';

export interface Trees {
  readonly base: Entry | undefined;
  readonly mine: Entry | undefined;
  readonly head: Entry | undefined;
}

/**
 * Inode numbers. In head, a number is given once, to one file at one path: programs take equal numbers for the same file.
 * What is behind it never changes, but for the mode of a directory, times of directories, and nlink. So of what a sandbox
 * shows, only what it has moved itself can have a number that head has elsewhere.
 */
export interface Numbers {
  /** One that the codebase has never given. */
  next(): number;
  /** Made by the sandbox since its last checkpoint, fork or commit: nobody else can have it. */
  isOwn(ino: number): boolean;
}

export interface CommitOptions {
  readonly comparison: Comparison;
  readonly choice: Choice;
  readonly onConflict: OnConflict;
  /** The store of the sandbox, and that of the codebase. */
  readonly own: Sink;
  readonly published: Sink;
  /**
   * Puts the contents of a chosen file or symlink into the codebase's store. Answers with its entry there, whose key is a
   * hash. It may be called before a refusal, and twice for a path.
   */
  readonly publish: (path: ByteString, entry: Entry) => Entry;
  readonly numbers: Numbers;
  /** Of directories in which the commit changes names. */
  readonly time: Time;
}

export type Committed =
  | { readonly outcome: 'committed'; readonly trees: Trees; readonly conflicts: readonly ByteString[] }
  | { readonly outcome: 'conflicts'; readonly conflicts: readonly ByteString[] }
  /** A directory at the path would have to be a file, or a file a directory, for something that is not chosen. */
  | { readonly outcome: 'blocked'; readonly path: ByteString };
