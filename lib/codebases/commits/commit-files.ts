import { randomUUID } from 'node:crypto';
import { fstatSync, fsyncSync } from 'node:fs';
import { join } from 'node:path';
import { type ByteString, fromLatin1, ROOT_PATH } from '../../byte-string.ts';
import type { HostFile } from '../../host-tree/host-file.ts';
import { WritableTree } from '../../host-tree/writable-tree.ts';
import { closeQuietly } from '../../linux/close.ts';
import { errorCode, ignoreAbsent } from '../../linux/errno.ts';
import { serveThread } from '../../threads/serve-thread.ts';
import { filesLost } from '../resolve-path.ts';
import { Removed, type Step, StepMaker } from './commit-steps.ts';
import { type StagedEntry, StagingTree } from './staging-tree.ts';

/** Staged entries that are synced one by one: about as many take as long as a sync of the disk. */
const FEW = 8;

/** The number of entries, steps or paths in one message: a millisecond or so of the main thread. */
export const MAX_ITEMS = 512;

/**
 * The part of a commit that runs in a thread of its own: it copies contents to the staging directory, makes them durable,
 * and makes the steps in the codebase's files. Synchronous calls, because a call of Node's own threads takes several times as long as
 * most of these system calls.
 */
export class CommitFiles {
  #staging: StagingTree | undefined;
  #steps: StepMaker | undefined;

  /** Call before the methods that stage, and again after the staging directory was emptied. */
  stage(staging: string): void {
    this.#staging?.close();
    this.#staging = undefined;
    this.#staging = new StagingTree(staging);
  }

  /** Makes a directory in the staging directory, for many files. */
  makeForMany(name: ByteString): void {
    this.#staged.makeForMany(name);
  }

  makeDirectories(paths: readonly ByteString[]): void {
    for (const path of paths) this.#staged.makeDirectory(path);
  }

  /** Gives directories their modes, when they are complete. */
  setModes(directories: readonly (readonly [path: ByteString, mode: number])[]): void {
    for (const [path, mode] of directories) this.#staged.setMode(path, mode);
  }

  write(files: readonly StagedEntry[], contents: readonly Uint8Array[]): void {
    for (const [index, file] of files.entries()) this.#staged.write(file, contents[index]!);
  }

  link(links: readonly StagedEntry[], targets: readonly ByteString[]): void {
    for (const [index, link] of links.entries()) this.#staged.link(link, targets[index]!);
  }

  /** Returns whether the source was there, for each file. */
  copy(files: readonly StagedEntry[], sources: readonly HostFile[]): boolean[] {
    return files.map((file, index) => this.#staged.copy(file, sources[index]!));
  }

  /**
   * Makes a few staged entries durable, and the file `journal` beside their directory. `names`: of all entries that are to be put
   * in place. Returns false if they are too many, or some cannot be synced one by one: then the whole disk must be synced.
   */
  syncFew(directory: string, staging: string, journal: ByteString, names: readonly ByteString[]): boolean {
    return names.length <= FEW && syncEach(staging, names) && syncEach(directory, [journal]);
  }

  /** See `StepMaker`. Steps of one commit may be made by several calls. */
  apply(files: string, staging: string, steps: readonly Step[]): ByteString[] {
    this.#staging?.close();
    this.#staging = undefined;
    this.#steps ??= openSteps(files, staging);
    return this.#steps.make(steps);
  }

  close(): void {
    this.#staging?.close();
    this.#staging = undefined;
    this.#steps?.close();
    this.#steps = undefined;
  }

  get #staged(): StagingTree {
    if (this.#staging === undefined) throw new Error('stage comes before what is staged');
    return this.#staging;
  }
}

/** Runs the thread of the role `commit`. */
export function runCommitFiles(): void {
  serveThread(() => new CommitFiles());
}

/** In the staging directory, with what the steps remove. */
const REMOVED = 'removed-';

function openSteps(files: string, staging: string): StepMaker {
  const open: { close(): void }[] = [];
  const opened = <T extends { close(): void } | undefined>(tree: T): T => {
    if (tree !== undefined) open.push(tree);
    return tree;
  };
  try {
    // Absent: the commit was finished except for the removal of its journal.
    const staged = opened(openTree(staging, ignoreAbsent));
    const removed = staged && opened(openRemoved(staged, staging));
    return new StepMaker(opened(openTree(files, lost)) as WritableTree, staged, removed);
  } catch (error) {
    for (const tree of open) tree.close();
    throw error;
  }
}

/** undefined: the disk is full. */
function openRemoved(staged: WritableTree, staging: string): Removed | undefined {
  const name = fromLatin1(REMOVED + randomUUID());
  try {
    staged.makeDirectory(name, 0o700);
  } catch {
    return undefined;
  }
  return new Removed(new WritableTree(join(staging, name)));
}

function openTree(root: string, failed: (error: unknown) => undefined): WritableTree | undefined {
  try {
    return new WritableTree(root, () => undefined);
  } catch (error) {
    return failed(error);
  }
}

function lost(error: unknown): never {
  throw errorCode(error) === 'ENOENT' ? filesLost(error) : error;
}

/** Syncs files and the names in the directory. Returns false if one is not a file, whose contents are more than this. */
function syncEach(directory: string, names: readonly ByteString[]): boolean {
  const tree = new WritableTree(directory);
  try {
    for (const name of names) {
      const fd = tree.openFile(name);
      try {
        if (!fstatSync(fd).isFile()) return false;
        fsyncSync(fd);
      } finally {
        closeQuietly(fd);
      }
    }
    fsyncSync(tree.directory(ROOT_PATH));
    return true;
  } catch (error) {
    // A symbolic link; a file that a server without root may not read.
    if (['ELOOP', 'EACCES'].includes(errorCode(error) ?? '')) return false;
    throw error;
  } finally {
    tree.close();
  }
}
