import {
  type ByteString,
  baseNameOf,
  fromLatin1,
  joinPath,
  parentOf,
  ROOT_PATH,
  sliceOf,
  toBuffer,
} from '../../byte-string.ts';
import type { Directory } from '../../host-tree/directory.ts';
import { HostFileReader } from '../../host-tree/host-file.ts';
import { copyToNewFile, writeNewFile } from '../../host-tree/new-file.ts';
import { OpenDirectories } from '../../host-tree/open-directories.ts';
import { every, filtered } from '../../long-lists.ts';
import type { WorkspaceChange } from '../../workspaces/workspaces.ts';
import { each } from '../limiter.ts';
import { typeOf } from './list-changes.ts';
import { topOf } from './new-directories.ts';
import { batchesOf, isSmall, type SmallContents } from './small-contents.ts';

const CONCURRENCY = 16;

/** Files that are open while contents are copied. */
interface Open {
  staging: OpenDirectories;
  sources: HostFileReader;
}

/**
 * Staged copies of the contents to commit, with their modes and times: a numbered file or symlink for each, and the
 * directories of `whole` with their contents. The directories are copied once and not updated.
 */
export class Staged {
  readonly #directory: string;
  readonly #small: SmallContents;
  readonly #whole = new Map<ByteString, ByteString>();
  readonly #byPath = new Map<ByteString, { name: ByteString; as: Now | undefined }>();

  constructor(directory: string, small: SmallContents, whole: ReadonlySet<ByteString> = new Set()) {
    this.#directory = directory;
    this.#small = small;
    for (const path of whole) this.#whole.set(path, fromLatin1(`whole-${this.#whole.size}`));
  }

  /** Name in the staging directory of what is staged for this path. The path must be staged. */
  nameOf(path: ByteString): ByteString {
    return this.#whole.get(path) ?? this.#byPath.get(path)!.name;
  }

  /** Whether the directory is staged with everything below it. */
  isWhole(path: ByteString): boolean {
    return this.#whole.has(path);
  }

  /** Whether the path was staged as a part of a directory. */
  isInWhole(path: ByteString): boolean {
    return topOf(path, this.#whole) !== undefined;
  }

  get hasWhole(): boolean {
    return this.#whole.size > 0;
  }

  /** Copies all contents that are not staged in their present state. A file that vanishes meanwhile is skipped. */
  async take(changes: readonly WorkspaceChange[]): Promise<void> {
    const open = { staging: new OpenDirectories(this.#directory), sources: new HostFileReader() };
    try {
      await this.#takeAll(changes, open);
    } finally {
      await open.staging.close();
      await open.sources.close();
    }
  }

  async #takeAll(changes: readonly WorkspaceChange[], open: Open): Promise<void> {
    const directories = await filtered(changes, ({ path, now }) => {
      return now !== undefined && typeOf(now) === 'TYPE_DIRECTORY' && (this.isWhole(path) || this.isInWhole(path));
    });
    for (const { path } of directories) {
      const { parent, name } = this.#place(path);
      await open.staging.use(parent, (directory) => directory.makeDirectory(name, 0o700));
    }
    await this.#takeContents(changes, open);
    for (const { path, now } of directories.reverse()) {
      const { parent, name } = this.#place(path);
      await open.staging.use(joinPath(parent, name), (directory) => directory.chmod(now!.mode & 0o777));
    }
  }

  async #takeContents(changes: readonly WorkspaceChange[], open: Open): Promise<void> {
    const missing = await filtered(changes, (change) => hasContents(change) && !this.#holds(change));
    const batches = batchesOf(await filtered(missing, isSmall));
    let next = batches[0] && this.#small(batches[0]);
    for (const [index, batch] of batches.entries()) {
      const contents = await next!;
      const following = batches[index + 1];
      // Read while the present batch is written.
      next = following && this.#small(following);
      next?.catch(() => undefined);
      await all(batch, (change) => this.#take(change, contents.get(change), open));
    }
    await all(await filtered(missing, (change) => !isSmall(change)), (change) => this.#take(change, undefined, open));
  }

  async #take(change: WorkspaceChange, bytes: Uint8Array | undefined, open: Open): Promise<void> {
    const { path } = change;
    const before = this.#byPath.get(path)?.name;
    const name = before ?? fromLatin1(String(this.#byPath.size));
    this.#byPath.set(path, { name, as: undefined });
    const place = this.#place(path);
    await open.staging.use(place.parent, async (directory) => {
      if (before !== undefined) await removeIfThere(directory, place.name);
      if (!(await copied(change, bytes, directory, place.name, open.sources))) return;
      this.#byPath.set(path, { name, as: change.now });
    });
  }

  /** In a directory staged as a whole, entries have their names in the sandbox. */
  #place(path: ByteString): { parent: ByteString; name: ByteString } {
    const top = this.#whole.has(path) ? path : topOf(path, this.#whole);
    if (top === undefined) return { parent: ROOT_PATH, name: this.#byPath.get(path)!.name };
    const whole = this.#whole.get(top)!;
    if (path === top) return { parent: ROOT_PATH, name: whole };
    const at = joinPath(whole, sliceOf(path, top.length + 1));
    return { parent: parentOf(at), name: baseNameOf(at) };
  }

  /** Whether the staged copy of each change is current. */
  holds(changes: readonly WorkspaceChange[]): Promise<boolean> {
    return every(changes, (change) => !hasContents(change) || this.#holds(change));
  }

  #holds(change: WorkspaceChange): boolean {
    const held = this.#byPath.get(change.path)?.as;
    return held !== undefined && change.now !== undefined && isAs(held, change.now);
  }
}

/** Waits for all tasks before it throws: otherwise a task could write into a directory that is being removed. */
async function all<T>(items: readonly T[], task: (item: T) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  await each(items, CONCURRENCY, (item) => task(item).catch((error) => void failures.push(error)));
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
    a.hostFile?.root === b.hostFile?.root &&
    a.hostFile?.path === b.hostFile?.path &&
    a.hostFile?.ino === b.hostFile?.ino &&
    a.version?.[0] === b.version?.[0] &&
    a.version?.[1] === b.version?.[1]
  );
}

/** Returns false if the source has vanished or was replaced. */
async function copied(
  { now }: WorkspaceChange,
  bytes: Uint8Array | undefined,
  directory: Directory,
  name: ByteString,
  sources: HostFileReader,
): Promise<boolean> {
  if (now?.target !== undefined) {
    await directory.symlink(toBuffer(now.target), name);
    return true;
  }
  if (now === undefined) return false;
  const as = { mode: now.mode & 0o777, mtime: now.mtime };
  if (bytes !== undefined) {
    await writeNewFile(directory, name, bytes, as);
    return true;
  }
  const source = now.hostFile && (await sources.open(now.hostFile));
  if (source === undefined) return false;
  try {
    await copyToNewFile(directory, name, source, as);
    return true;
  } finally {
    await source.close();
  }
}

async function removeIfThere(directory: Directory, name: ByteString): Promise<void> {
  if ((await directory.lstat(name)) !== undefined) await directory.unlink(name);
}
