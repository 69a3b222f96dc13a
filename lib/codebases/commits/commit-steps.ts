import { type ByteString, fromLatin1, parentOf } from '../../byte-string.ts';
import type { WritableTree } from '../../host-tree/writable-tree.ts';
import { errorCode } from '../../linux/errno.ts';
import { changeMode } from './change-mode.ts';
import { KeptFiles } from './kept-files.ts';

/**
 * One change of a codebase's files. `put` moves a file or symlink from the staging directory to its path. Steps are
 * idempotent: each may be repeated after a crash.
 */
export type Step =
  | ['unlink', path: ByteString]
  | ['rmdir', path: ByteString]
  | ['mkdir', path: ByteString, mode: number]
  | ['put', path: ByteString, staged: ByteString]
  | ['chmod', path: ByteString, mode: number];

/** What a step does where entries of another type, or none, are in the way. */
const MISSING = ['ENOENT', 'ENOTDIR', 'ELOOP'];
const OTHER_TYPE = ['EISDIR', 'ENOTDIR', 'ELOOP', 'ENOTEMPTY', 'EEXIST'];

/**
 * Takes what steps remove: to free the space of a file may take the disk longer than all else. Gives no file of the codebase
 * a second link, however short: sandboxes know hard links by the number of the inode, which is used again later.
 */
export class Removed {
  readonly #tree: WritableTree;
  readonly #kept = new KeptFiles();
  #count = 0;

  /** `tree`: of an empty directory on the disk of the codebase. Closed with this. */
  constructor(tree: WritableTree) {
    this.#tree = tree;
  }

  /** Keeps a file that is about to be replaced until this is closed, if that is possible. */
  keep(files: WritableTree, path: ByteString): void {
    this.#kept.keep(() => files.openPath(path));
  }

  /** Moves an entry that is no directory here. Returns false if that is impossible. */
  take(files: WritableTree, path: ByteString): boolean {
    if (files.find(path)?.isDirectory() !== false) return false;
    try {
      files.moveTo(path, this.#tree, fromLatin1(String(this.#count++)));
      return true;
    } catch {
      return false;
    }
  }

  close(): void {
    this.#kept.close();
    this.#tree.close();
  }
}

/**
 * Makes the steps of one commit in order, in a codebase that nothing else changes meanwhile. Every path is resolved from
 * the root without following symlinks. Closes its trees with itself.
 */
export class StepMaker {
  readonly #files: WritableTree;
  readonly #staged: WritableTree | undefined;
  readonly #removed: Removed | undefined;

  /** `files`: creates missing directories. `staged`: undefined if there is nothing staged any more. */
  constructor(files: WritableTree, staged: WritableTree | undefined, removed: Removed | undefined) {
    this.#files = files;
    this.#staged = staged;
    this.#removed = removed;
  }

  /**
   * Returns the paths of steps that were skipped because an entry of another type is in the way, which repeating would not
   * change. Throws for other failures.
   */
  make(steps: readonly Step[]): ByteString[] {
    return steps.filter((step) => !this.#make(step)).map(([, path]) => path);
  }

  close(): void {
    this.#files.close();
    this.#staged?.close();
    this.#removed?.close();
  }

  /** Returns false if the step is skipped. */
  #make(step: Step): boolean {
    const [kind, path] = step;
    switch (kind) {
      case 'unlink':
        return done(() => this.#unlink(path), [...MISSING, 'EISDIR', 'EPERM']);
      case 'rmdir':
        return done(() => this.#files.removeDirectory(path), [...MISSING, 'ENOTEMPTY', 'EEXIST']);
      case 'mkdir':
        return !hindered(() => this.#makeDirectory(path, step[2]));
      case 'put':
        return !hindered(() => this.#put(path, step[2]));
      case 'chmod':
        return done(() => changeMode(this.#files, path, step[2], this.#staged), MISSING);
    }
  }

  #unlink(path: ByteString): void {
    if (!this.#removed?.take(this.#files, path)) this.#files.unlink(path);
  }

  #makeDirectory(path: ByteString, mode: number): void {
    done(() => this.#files.makeDirectory(path, 0o755), ['EEXIST']);
    // ENOTDIR for an entry of another type.
    this.#files.directory(path);
    changeMode(this.#files, path, mode, this.#staged);
  }

  #put(path: ByteString, staged: ByteString): void {
    this.#files.enter(parentOf(path));
    this.#removed?.keep(this.#files, path);
    // Absent: it was moved before a crash.
    done(() => this.#staged?.moveTo(staged, this.#files, path), ['ENOENT']);
  }
}

/** Returns true, also if the step throws one of these errnos. */
function done(step: () => void, errnos: readonly string[]): true {
  try {
    step();
  } catch (error) {
    if (!errnos.includes(errorCode(error) ?? '')) throw error;
  }
  return true;
}

/** Whether an entry of another type is in the way of a step that creates one. */
function hindered(step: () => void): boolean {
  try {
    step();
    return false;
  } catch (error) {
    if (OTHER_TYPE.includes(errorCode(error) ?? '')) return true;
    throw error;
  }
}
