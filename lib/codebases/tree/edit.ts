import type { ByteString } from '../../byte-string.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import type { Writing } from '../../store/writing.ts';
import type { DirectoryEntry, Time } from '../../trees/format/entry.ts';
import type { Contents } from '../totals.ts';
import { buildDraft } from './build-draft.ts';
import { Draft } from './draft.ts';
import type { Head } from './head.ts';
import type { Numbers } from './numbers.ts';
import { settleLinks } from './settle-links.ts';
import { contentsOf, NOTHING, sum, type TreeQuota } from './tree-quota.ts';

export interface EditParts {
  readonly store: ObjectStore;
  readonly quota: TreeQuota;
  readonly numbers: Numbers;
  readonly time: Time;
}

/** The next version while it is made: the tree of the head with the changes so far. */
export class Edit {
  readonly head: Head;
  readonly draft: Draft;
  readonly numbers: Numbers;
  readonly time: Time;
  readonly store: ObjectStore;
  readonly writing: Writing;
  /** Where it changes the version before. */
  readonly paths: ByteString[] = [];
  readonly #quota: TreeQuota;
  #growth: Readonly<Contents> = NOTHING;

  constructor(head: Head, writing: Writing, { store, quota, numbers, time }: EditParts) {
    this.head = head;
    this.writing = writing;
    this.store = store;
    this.numbers = numbers;
    this.time = time;
    this.#quota = quota;
    this.draft = new Draft(store, head.root, time);
  }

  /** Call before a change that lets the codebase grow by this much. Throws RESOURCE_EXHAUSTED. */
  admit(growth: Readonly<Contents>): void {
    this.#quota.admit(contentsOf(this.head.root.totals), growth, this.#growth);
    this.#growth = sum(this.#growth, growth);
    this.#quota.reserve(this.#growth.bytes);
  }

  /** Writes the objects of all changes so far. */
  *build(): Generator<void, DirectoryEntry, void> {
    const { draft, store, writing } = this;
    const root = yield* buildDraft(store, writing, draft);
    if (!draft.hasUnlinked) return root;
    const settled = yield* settleLinks(store, writing, root, this.time);
    this.replace(settled);
    draft.hasUnlinked = false;
    return settled;
  }

  /** The tree is another one from now on. */
  replace(root: DirectoryEntry): void {
    this.draft.replace(root);
  }
}
