import { constants } from 'node:fs';
import { chmod, copyFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ByteString } from '../../fuse/filesystem.ts';
import type { WorkspaceChange } from '../../fuse/workspaces.ts';
import { each } from '../limiter.ts';
import { typeOf } from './list-changes.ts';
import { batchesOfSmall, type SmallContents } from './small-contents.ts';

const AT_ONCE = 16;

/** Copies of what is to be committed, each a numbered file or symlink with its mode and time. */
export class Staged {
  readonly #directory: string;
  readonly #small: SmallContents;
  readonly #byPath = new Map<ByteString, { name: string; signature: string }>();

  constructor(directory: string, small: SmallContents) {
    this.#directory = directory;
    this.#small = small;
  }

  nameOf(path: ByteString): string {
    return this.#byPath.get(path)!.name;
  }

  /** Copies what it does not hold as it is. A file that vanishes meanwhile is not held. */
  async take(changes: readonly WorkspaceChange[]): Promise<void> {
    const missing = changes.filter((change) => hasContents(change) && !this.#holds(change));
    for (const batch of batchesOfSmall(missing)) {
      const contents = await this.#small(batch);
      await all(batch, (change) => this.#take(change, contents.get(change)));
    }
    await all(
      missing.filter(({ now }) => !now!.small),
      (change) => this.#take(change, undefined),
    );
  }

  async #take(change: WorkspaceChange, bytes: Uint8Array | undefined): Promise<void> {
    const { path } = change;
    const name = this.#byPath.get(path)?.name ?? String(this.#byPath.size);
    this.#byPath.set(path, { name, signature: '' });
    if (await copied(change, bytes, join(this.#directory, name))) {
      this.#byPath.set(path, { name, signature: signatureOf(change) });
    }
  }

  /** Whether each has the contents that were copied. */
  holds(changes: readonly WorkspaceChange[]): boolean {
    return changes.every((change) => !hasContents(change) || this.#holds(change));
  }

  #holds(change: WorkspaceChange): boolean {
    return this.#byPath.get(change.path)?.signature === signatureOf(change);
  }
}

/** All end before a failure is told: nothing is written into a directory that is being taken away. */
async function all<T>(items: readonly T[], task: (item: T) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  await each(items, AT_ONCE, (item) => task(item).catch((error) => void failures.push(error)));
  if (failures.length > 0) throw failures[0];
}

function hasContents({ now, contentChanged }: WorkspaceChange): boolean {
  return now !== undefined && contentChanged && typeOf(now) !== 'TYPE_DIRECTORY';
}

function signatureOf({ now }: WorkspaceChange): string {
  return JSON.stringify([now?.mode, now?.size, now?.mtime, now?.target, now?.hostPath, now?.version]);
}

async function copied({ now }: WorkspaceChange, bytes: Uint8Array | undefined, to: string): Promise<boolean> {
  await rm(to, { force: true });
  if (now?.target !== undefined) {
    await symlink(Buffer.from(now.target, 'latin1'), to);
    return true;
  }
  if (now === undefined) return false;
  try {
    if (bytes !== undefined) await writeFile(to, bytes, { mode: 0o600 });
    else if (now.hostPath === undefined) return false;
    else await copyFile(Buffer.from(now.hostPath, 'latin1'), to, constants.COPYFILE_FICLONE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  const time = now.mtime.sec + now.mtime.nsec / 1e9;
  await utimes(to, time, time);
  await chmod(to, now.mode & 0o777);
  return true;
}
