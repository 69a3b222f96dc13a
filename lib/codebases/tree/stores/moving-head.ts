import { ServiceError } from '../../../errors.ts';
import type { StoredHead } from '../../../metadata/metadata.ts';
import type { Head, Heads } from '../head.ts';
import { headOf, storedHead } from '../stored-head.ts';
import type { HeadKeeper } from './tree-stores.ts';

/** The head of one codebase in the thread of its store. The main thread keeps it, and moves it when it is asked. */
export class MovingHead implements Heads {
  readonly #id: string;
  readonly #keeper: HeadKeeper;
  #stored: StoredHead;
  #head: Head | undefined;

  constructor(id: string, stored: StoredHead, keeper: HeadKeeper) {
    this.#id = id;
    this.#keeper = keeper;
    this.#stored = stored;
    this.#head = headOf(stored);
  }

  read(): Head | undefined {
    return this.#head;
  }

  async advance(from: Head, to: Head): Promise<boolean | ServiceError> {
    if (from !== this.#head) return false;
    const next = storedHead(to);
    const moved = await this.#keeper.advance(this.#id, this.#stored, next);
    if ('refused' in moved) return new ServiceError('RESOURCE_EXHAUSTED', moved.refused);
    const present = 'moved' in moved ? next : moved.present;
    if (present !== undefined) this.#stored = present;
    this.#head = 'moved' in moved ? to : present && headOf(present);
    return 'moved' in moved;
  }
}
