import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, rm, symlink, utimes } from 'node:fs/promises';
import type { ByteString } from '../../fuse/filesystem.ts';
import type { WorkspaceChange } from '../../fuse/workspaces.ts';
import { each } from '../limiter.ts';
import { typeOf } from './list-changes.ts';
import { topOf } from './new-directories.ts';
import { batchesOfSmall, type SmallContents } from './small-contents.ts';
import { stageFile } from './stage-file.ts';

const AT_ONCE = 16;

/**
 * Copies of what is to be committed, with their modes and times: each a numbered file or symlink, and directories of
 * `whole` with all that is in them. These are taken once, and not brought up to date.
 */
export class Staged {
  readonly #directory: string;
  readonly #small: SmallContents;
  readonly #whole = new Map<ByteString, string>();
  readonly #byPath = new Map<ByteString, { name: string; as: Now | undefined }>();

  constructor(directory: string, small: SmallContents, whole: ReadonlySet<ByteString> = new Set()) {
    this.#directory = directory;
    this.#small = small;
    for (const path of whole) this.#whole.set(path, `whole-${this.#whole.size}`);
  }

  nameOf(path: ByteString): string {
    return this.#whole.get(path) ?? this.#byPath.get(path)!.name;
  }

  isWhole(path: ByteString): boolean {
    return this.#whole.has(path);
  }

  /** It is there already as a part of a directory. */
  isInWhole(path: ByteString): boolean {
    return topOf(path, this.#whole) !== undefined;
  }

  get hasWhole(): boolean {
    return this.#whole.size > 0;
  }

  /** Copies what it does not hold as it is. A file that vanishes meanwhile is not held. */
  async take(changes: readonly WorkspaceChange[]): Promise<void> {
    const directories = changes.filter(({ path, now }) => {
      return now !== undefined && typeOf(now) === 'TYPE_DIRECTORY' && (this.isWhole(path) || this.isInWhole(path));
    });
    for (const { path } of directories) await mkdir(this.#place(path), { mode: 0o700 });
    await this.#takeContents(changes);
    for (const { path, now } of directories.reverse()) await chmod(this.#place(path), now!.mode & 0o777);
  }

  async #takeContents(changes: readonly WorkspaceChange[]): Promise<void> {
    const missing = changes.filter((change) => hasContents(change) && !this.#holds(change));
    const batches = [...batchesOfSmall(missing)];
    let next = batches[0] && this.#small(batches[0]);
    for (const [index, batch] of batches.entries()) {
      const contents = await next!;
      const following = batches[index + 1];
      // Read while these are written.
      next = following && this.#small(following);
      next?.catch(() => undefined);
      await all(batch, (change) => this.#take(change, contents.get(change)));
    }
    await all(
      missing.filter(({ now }) => !now!.small),
      (change) => this.#take(change, undefined),
    );
  }

  async #take(change: WorkspaceChange, bytes: Uint8Array | undefined): Promise<void> {
    const { path } = change;
    const before = this.#byPath.get(path)?.name;
    const name = before ?? String(this.#byPath.size);
    this.#byPath.set(path, { name, as: undefined });
    if (await copied(change, bytes, this.#place(path), before !== undefined)) {
      this.#byPath.set(path, { name, as: change.now });
    }
  }

  /** As bytes: in a whole directory, names are those of the sandbox. */
  #place(path: ByteString): Buffer {
    const top = this.#whole.has(path) ? path : topOf(path, this.#whole);
    const name = top === undefined ? this.#byPath.get(path)!.name : this.#whole.get(top)! + path.slice(top.length);
    return Buffer.concat([Buffer.from(`${this.#directory}/`), Buffer.from(name, 'latin1')]);
  }

  /** Whether each has the contents that were copied. */
  holds(changes: readonly WorkspaceChange[]): boolean {
    return changes.every((change) => !hasContents(change) || this.#holds(change));
  }

  #holds(change: WorkspaceChange): boolean {
    const held = this.#byPath.get(change.path)?.as;
    return held !== undefined && change.now !== undefined && isAs(held, change.now);
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

type Now = NonNullable<WorkspaceChange['now']>;

function isAs(a: Now, b: Now): boolean {
  return (
    a.mode === b.mode &&
    a.size === b.size &&
    a.mtime.sec === b.mtime.sec &&
    a.mtime.nsec === b.mtime.nsec &&
    a.target === b.target &&
    a.hostPath === b.hostPath &&
    a.version?.[0] === b.version?.[0] &&
    a.version?.[1] === b.version?.[1]
  );
}

async function copied(
  { now }: WorkspaceChange,
  bytes: Uint8Array | undefined,
  to: Buffer,
  again: boolean,
): Promise<boolean> {
  if (again) await rm(to, { force: true });
  if (now?.target !== undefined) {
    await symlink(Buffer.from(now.target, 'latin1'), to);
    return true;
  }
  if (now === undefined) return false;
  const mode = now.mode & 0o777;
  if (bytes !== undefined) {
    await stageFile(to, bytes, mode, now.mtime);
    return true;
  }
  if (now.hostPath === undefined || !(await cloned(Buffer.from(now.hostPath, 'latin1'), to))) return false;
  const time = now.mtime.sec + now.mtime.nsec / 1e9;
  await utimes(to, time, time);
  await chmod(to, mode);
  return true;
}

async function cloned(from: Buffer, to: Buffer): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
