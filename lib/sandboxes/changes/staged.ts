import { type ByteString, fromLatin1, joinPath, ROOT_PATH, sliceOf } from '../../byte-string.ts';
import { type CommitFiles, MAX_ITEMS } from '../../codebases/commits/commit-files.ts';
import type { StagedEntry } from '../../codebases/commits/staging-tree.ts';
import { secondsOf } from '../../linux/time.ts';
import { every, filtered } from '../../long-lists.ts';
import type { Remote } from '../../threads/thread-pool.ts';
import type { WorkspaceChange } from '../../workspaces/workspaces.ts';
import { topOf } from './new-directories.ts';
import { partOf } from './part-change.ts';
import { typeOf } from './shown-change.ts';
import { batchesOf, isSmall, type SmallContents } from './small-contents.ts';
import { StagedAhead } from './staged-ahead.ts';

/** Entries that are worth a directory of their own; see lib/codebases/commits/spread.ts. */
const MANY = 64;
const MANY_AT = fromLatin1('many');

/**
 * Staged copies of the contents to commit, with their modes and times: a numbered file or symlink for each, and the
 * directories of `whole` with their contents. The directories are copied once and not updated.
 */
export class Staged {
  readonly #remote: Remote<CommitFiles>;
  readonly #small: SmallContents;
  readonly #text: TextOf;
  readonly #whole = new Map<ByteString, ByteString>();
  readonly #ahead = new StagedAhead();
  /** The directory of what is staged next, in the staging directory. */
  #at = ROOT_PATH;
  readonly #byPath = new Map<ByteString, { name: ByteString; as: Now | undefined }>();

  private constructor(remote: Remote<CommitFiles>, small: SmallContents, text: TextOf) {
    this.#remote = remote;
    this.#small = small;
    this.#text = text;
  }

  /** `directory`: the empty staging directory. */
  static async begin(
    directory: string,
    { remote, small, text }: { remote: Remote<CommitFiles>; small: SmallContents; text: TextOf },
  ): Promise<Staged> {
    await remote.stage(directory);
    return new Staged(remote, small, text);
  }

  /** The directories to stage as a whole, of a commit with this number of changes. Call before `take`. */
  async useWhole(whole: ReadonlySet<ByteString>, changes: number): Promise<void> {
    if (whole.size > 0) await this.#makeRoomFor(changes);
    for (const path of whole) this.#whole.set(path, joinPath(this.#at, fromLatin1(`whole-${this.#whole.size}`)));
  }

  /**
   * Stages the next changes in the order of their paths, before the others are known. Resolves when the contents were read,
   * while they are written. What fails is left to `take`.
   */
  async ahead(changes: readonly WorkspaceChange[]): Promise<void> {
    const ahead = this.#ahead;
    for (const batch of batchesOf(ahead.chosen(changes))) {
      if (!(await ahead.hasRoom())) return;
      try {
        const contents = await this.#small(batch);
        ahead.add(() => this.#write(batch, contents));
      } catch {
        ahead.fail();
      }
    }
  }

  /** Resolves when all that is staged ahead is written; the thread of the commit takes no other call before. Never rejects. */
  get aheadWritten(): Promise<void> {
    return this.#ahead.written;
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
    const directories = await filtered(changes, ({ path, now }) => {
      return now !== undefined && typeOf(now) === 'TYPE_DIRECTORY' && (this.isWhole(path) || this.isInWhole(path));
    });
    const places = directories.map(({ path }) => this.#place(path));
    for (const some of parts(places)) await this.#remote.makeDirectories(some);
    await this.#takeContents(changes);
    const modes = directories.map(({ now }, index) => [places[index]!, now!.mode & 0o777] as const);
    for (const some of parts(modes.reverse())) await this.#remote.setModes(some);
  }

  async #takeContents(changes: readonly WorkspaceChange[]): Promise<void> {
    const missing = await filtered(changes, (change) => hasContents(change) && !this.#holds(change));
    const batches = batchesOf(await filtered(missing, isSmall));
    let next = batches[0] && this.#small(batches[0]);
    for (const [index, batch] of batches.entries()) {
      const contents = await next!;
      const following = batches[index + 1];
      // Read while the present batch is written.
      next = following && this.#small(following);
      next?.catch(() => undefined);
      await this.#write(batch, contents);
    }
    for (const change of await filtered(missing, ({ now }) => now!.isText === true)) {
      const bytes = await this.#text(change.path);
      if (bytes?.length === change.now!.size) await this.#write([change], new Map([[change, bytes]]));
    }
    for (const change of await filtered(missing, (each) => partOf(each) !== undefined)) {
      await this.#write([change], new Map([[change, partOf(change)!]]));
    }
    const links = await filtered(missing, ({ now }) => now!.target !== undefined);
    for (const some of parts(links)) {
      const targets = some.map(({ now }) => now!.target!);
      await this.#remote.link(
        some.map((change) => this.#entry(change)),
        targets,
      );
      for (const change of some) this.#taken(change);
    }
    await this.#takeFiles(await filtered(missing, ({ now }) => now!.hostFile !== undefined));
  }

  async #write(batch: readonly WorkspaceChange[], contents: ReadonlyMap<WorkspaceChange, Uint8Array>): Promise<void> {
    const there = batch.filter((change) => contents.has(change));
    await this.#makeRoomFor(there.length);
    const entries = there.map((change) => this.#entry(change));
    await this.#remote.write(
      entries,
      there.map((change) => contents.get(change)!),
    );
    for (const change of there) this.#taken(change);
  }

  async #takeFiles(files: readonly WorkspaceChange[]): Promise<void> {
    for (const some of parts(files)) {
      await this.#makeRoomFor(some.length);
      const entries = some.map((change) => this.#entry(change));
      const sources = some.map(({ now }) => now!.hostFile!);
      const copied = await this.#remote.copy(entries, sources);
      for (const [index, change] of some.entries()) if (copied[index]) this.#taken(change);
    }
  }

  /** What is staged from now on is in a directory for many files, if there are many. */
  async #makeRoomFor(count: number): Promise<void> {
    if (count < MANY || this.#at !== ROOT_PATH) return;
    await this.#remote.makeForMany(MANY_AT);
    this.#at = MANY_AT;
  }

  /** What is staged for the path is unknown until it is `taken`. */
  #entry({ path, now }: WorkspaceChange): StagedEntry {
    const before = this.#byPath.get(path)?.name;
    const name = before ?? joinPath(this.#at, fromLatin1(String(this.#byPath.size)));
    this.#byPath.set(path, { name, as: undefined });
    return {
      path: this.#place(path),
      mode: now!.mode & 0o777,
      mtime: secondsOf(now!.mtime),
      again: before !== undefined,
    };
  }

  #taken({ path, now }: WorkspaceChange): void {
    this.#byPath.get(path)!.as = now;
  }

  /** In the staging directory. In a directory staged as a whole, entries have their names in the sandbox. */
  #place(path: ByteString): ByteString {
    const top = this.#whole.has(path) ? path : topOf(path, this.#whole);
    if (top === undefined) return this.#byPath.get(path)!.name;
    const whole = this.#whole.get(top)!;
    return path === top ? whole : joinPath(whole, sliceOf(path, top.length + 1));
  }

  /** Bytes that `take` would copy; a file counts as `fileCost` more. */
  async lacking(changes: readonly WorkspaceChange[], fileCost: number): Promise<number> {
    const missing = await filtered(changes, (change) => hasContents(change) && !this.#holds(change));
    return missing.reduce((sum, { now }) => sum + now!.size + fileCost, 0);
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

/** The items in lists of one message each. */
function* parts<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += MAX_ITEMS) yield items.slice(from, from + MAX_ITEMS);
}

function hasContents({ now, contentChanged }: WorkspaceChange): boolean {
  return now !== undefined && contentChanged && typeOf(now) !== 'TYPE_DIRECTORY';
}

/** Returns what a commit stores of a file with placeholders (`isText`). */
export type TextOf = (path: ByteString) => Promise<Uint8Array | undefined>;

type Now = NonNullable<WorkspaceChange['now']>;

function isAs(a: Now, b: Now): boolean {
  return (
    a.mode === b.mode &&
    a.size === b.size &&
    a.mtime.sec === b.mtime.sec &&
    a.mtime.nsec === b.mtime.nsec &&
    a.target === b.target &&
    a.isText === b.isText &&
    a.hostFile?.root === b.hostFile?.root &&
    a.hostFile?.path === b.hostFile?.path &&
    a.hostFile?.ino === b.hostFile?.ino &&
    a.version?.[0] === b.version?.[0] &&
    a.version?.[1] === b.version?.[1]
  );
}
