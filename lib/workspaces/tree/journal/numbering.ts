import type { OwnDirectory, OwnFile } from '../items.ts';
import { type Id, ROOT_DIRECTORY } from './records.ts';

/** The numbers by which the present journal calls directories and files. */
export class Numbering {
  #journal = 0;
  #next = ROOT_DIRECTORY;

  /** Another journal begins: nothing has a number but the root. */
  begin(root: OwnDirectory): void {
    this.#journal++;
    this.#next = ROOT_DIRECTORY;
    this.give(root);
  }

  give(item: OwnDirectory | OwnFile): void {
    item.journal = this.#journal;
    item.id = this.#next++;
  }

  /** undefined: the journal does not know it. */
  of(item: OwnDirectory | OwnFile): Id | undefined {
    return item.journal === this.#journal ? item.id : undefined;
  }

  /** It is not in the tree any more. */
  take(item: OwnDirectory | OwnFile): void {
    item.journal = 0;
  }
}
