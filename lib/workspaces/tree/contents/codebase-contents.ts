import type { Contents } from '../../../store/object-reads.ts';
import type { Key } from '../../../trees/format/keys.ts';

/** What a tree reads of its codebase's store: an `ObjectStore` is one. */
export interface CodebaseContents {
  /** Where small contents are. Throws AbsentObject, FormatError and host errors. */
  contents(key: Key, size: number): Contents;
  /** The file of contents that are larger than `SMALL`. */
  path(key: Key): string;
}
