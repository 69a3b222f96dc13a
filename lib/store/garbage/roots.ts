import type { Source } from '../../trees/directory/source.ts';
import type { Key } from '../../trees/format/keys.ts';

/** What must stay, with all that it names. */
export interface Roots {
  /** The head, kept versions, tags and pins. Not the versions before them. */
  readonly versions: readonly Root[];
  /** Directories that others name: the trees and bases of sandboxes and checkpoints. */
  readonly directories: readonly Root[];
  /** Contents that others name and that are in no such tree: those of files that programs have open. */
  readonly contents: readonly Root[];
  /** Where directories of sandboxes are, which have keys of places. They are read, and nobody says that they stay. */
  readonly places: Source;
}

export interface Root {
  readonly key: Key;
  /** For messages: `version 7`. */
  readonly name: string;
}
