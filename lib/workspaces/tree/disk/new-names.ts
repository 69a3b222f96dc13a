import type { SyncStep } from './sync-steps.ts';
import type { Unsynced } from './unsynced.ts';

/** Folders with names that are not durable. */
export class NewNames implements Unsynced {
  #folders = new Set<string>();
  #covered = new Set<string>();

  add(folder: string): void {
    this.#folders.add(folder);
  }

  steps(): SyncStep[] {
    this.#covered = this.#folders;
    this.#folders = new Set();
    return [...this.#covered].map((folder) => ({ folder }));
  }

  synced(): void {
    this.#covered = new Set();
  }

  syncFailed(): void {
    for (const folder of this.#covered) this.#folders.add(folder);
  }
}
