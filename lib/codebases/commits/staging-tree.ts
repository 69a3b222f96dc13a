import { closeSync, fchmodSync, fstatSync, futimesSync, writeSync } from 'node:fs';
import type { ByteString } from '../../byte-string.ts';
import { accessibleMode } from '../../host-tree/accessible-mode.ts';
import { isAbsence } from '../../host-tree/at.ts';
import { HeldDirectories } from '../../host-tree/held-directories.ts';
import type { HostFile } from '../../host-tree/host-file.ts';
import { HostTree } from '../../host-tree/host-tree.ts';
import { WritableTree } from '../../host-tree/writable-tree.ts';
import { closeQuietly } from '../../linux/close.ts';
import { errorCode } from '../../linux/errno.ts';
import { hostSeconds } from '../../linux/time.ts';
import { NewFiles } from './new-files.ts';
import { makeSpread } from './spread.ts';

/** Directories of the sources that are kept open. */
const OPEN_SOURCES = 64;

/** An entry to stage. */
export interface StagedEntry {
  /** In the staging directory. */
  path: ByteString;
  /** Permission bits; not of a symlink. */
  mode: number;
  /** Seconds since the epoch, with a fraction. */
  mtime: number;
  /** An earlier copy may be there. */
  again: boolean;
}

/** The staging directory of a commit, while its contents are copied. The caller must call `close`. */
export class StagingTree {
  readonly #root: string;
  readonly #tree: WritableTree;
  readonly #held = new HeldDirectories(OPEN_SOURCES);
  readonly #sources = new Map<string, HostTree>();
  /** Of a commit of many files. Those of a few are synced one by one, with the names in their directory only. */
  #newFiles: NewFiles | undefined;

  constructor(root: string) {
    this.#root = root;
    this.#tree = new WritableTree(root);
  }

  makeDirectory(path: ByteString): void {
    this.#tree.makeDirectory(path, 0o700);
  }

  /** Makes a directory for many files; see `makeSpread`. */
  makeForMany(name: ByteString): void {
    try {
      makeSpread(this.#root, this.#tree, name);
    } catch {
      // The directory of all codebases is on another disk, or may not be written to.
      this.makeDirectory(name);
      return;
    }
    this.#newFiles = new NewFiles(this.#root, this.#tree);
  }

  setMode(path: ByteString, mode: number): void {
    fchmodSync(this.#tree.directory(path), mode);
  }

  write({ path, mode, mtime, again }: StagedEntry, bytes: Uint8Array): void {
    if (again) this.#remove(path);
    const fd = (this.#newFiles ?? this.#tree).create(path, mode);
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
      futimesSync(fd, hostSeconds(mtime), hostSeconds(mtime));
      if (accessibleMode(mode, 'file') !== mode) fchmodSync(fd, mode);
    } finally {
      closeSync(fd);
    }
  }

  link({ path, mtime, again }: StagedEntry, target: ByteString): void {
    if (again) this.#remove(path);
    this.#tree.symlink(target, path, mtime);
  }

  /**
   * Copies a file, cloned if the disk supports it. Reads through a descriptor, so a change of the source's path has no
   * effect. Returns false if the source has vanished or was replaced.
   */
  copy({ path, mode, mtime, again }: StagedEntry, source: HostFile): boolean {
    if (again) this.#remove(path);
    const from = this.#open(source);
    if (from === undefined) return false;
    try {
      this.#tree.copy(from, path);
    } finally {
      closeQuietly(from);
    }
    const fd = this.#tree.openFile(path);
    try {
      futimesSync(fd, hostSeconds(mtime), hostSeconds(mtime));
      fchmodSync(fd, mode);
    } finally {
      closeSync(fd);
    }
    return true;
  }

  close(): void {
    for (const source of this.#sources.values()) source.close();
    this.#newFiles?.close();
    this.#tree.close();
  }

  #open({ root, path, ino }: HostFile): number | undefined {
    const fd = this.#source(root)?.openFile(path);
    if (fd === undefined) return undefined;
    let isIt = false;
    try {
      const stat = fstatSync(fd);
      isIt = stat.isFile() && (ino === undefined || stat.ino === ino);
      return isIt ? fd : undefined;
    } finally {
      if (!isIt) closeQuietly(fd);
    }
  }

  /** undefined: the directory does not exist any more. */
  #source(root: string): HostTree | undefined {
    const known = this.#sources.get(root);
    if (known !== undefined) return known;
    try {
      const tree = new HostTree(root, this.#held);
      this.#sources.set(root, tree);
      return tree;
    } catch (error) {
      if (isAbsence(error)) return undefined;
      throw error;
    }
  }

  #remove(path: ByteString): void {
    try {
      this.#tree.unlink(path);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
}
