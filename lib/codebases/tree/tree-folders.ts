import { mkdir, readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../../host-tree/remove-tree.ts';
import { isId } from '../../ids.ts';
import type { Log } from '../../log.ts';
import { DeletionMarks, markedId } from '../deletion-marks.ts';

/**
 * `storage.codebase_path`: a folder with a store for each codebase. What has no record is removed at the next start if it is
 * marked, as while a codebase is deleted. A folder with neither is kept, because the records may be the
 * wrong part.
 */
export class TreeFolders {
  readonly marks: DeletionMarks;
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
    this.marks = new DeletionMarks(path);
  }

  /** Removes all of a codebase, then its mark. May be repeated after a failure. */
  async remove(id: string): Promise<void> {
    await removeTree(join(this.#path, id));
    await this.marks.remove(id);
  }

  /** Creates the folder of all if it is absent, and finishes what a crash interrupted. */
  async recover(known: (id: string) => boolean, log: Log): Promise<void> {
    await mkdir(this.#path, { recursive: true, mode: 0o711 });
    const names = new Set(await readdir(this.#path));
    for (const name of names) {
      const id = markedId(name);
      if (id === undefined) continue;
      names.delete(id);
      await (known(id) ? this.marks.remove(id) : this.remove(id));
    }
    for (const id of names) {
      if (!isId('cb', id) || known(id)) continue;
      const directory = join(this.#path, id);
      await rmdir(directory).catch((err: unknown) => {
        log.warn('codebase directory without a record is kept', { directory, err });
      });
    }
  }
}
