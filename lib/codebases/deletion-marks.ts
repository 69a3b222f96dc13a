import { open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isId } from '../ids.ts';
import { ignoreAbsent } from '../linux/errno.ts';

const MARK = '.deleting-';

/** Names in the folder of all codebases which say that one of them is to go if it has no record. */
export class DeletionMarks {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Durable when it resolves. */
  async make(id: string): Promise<void> {
    await (await open(join(this.#folder, MARK + id), 'w', 0o600)).close();
    await syncFolder(this.#folder);
  }

  /** Also if there is none. */
  async remove(id: string): Promise<void> {
    await unlink(join(this.#folder, MARK + id)).catch(ignoreAbsent);
  }
}

/** The codebase of a mark; undefined for other names. */
export function markedId(name: string): string | undefined {
  const id = name.startsWith(MARK) ? name.slice(MARK.length) : '';
  return isId('cb', id) ? id : undefined;
}

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}
