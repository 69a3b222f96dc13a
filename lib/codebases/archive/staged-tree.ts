import { closeSync, futimesSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import {
  badLink,
  belowOther,
  checkTarget,
  memberPath,
  requireNamed,
  tooManyLinks,
  twoTypes,
} from '../../archive/member-path.ts';
import type { Entry } from '../../archive/tar-header.ts';
import type { ArchiveSink } from '../../archive/tar-reader.ts';
import { type ByteString, parentOf } from '../../byte-string.ts';
import { ServiceError } from '../../errors.ts';
import { WritableTree } from '../../host-tree/writable-tree.ts';
import { errorCode } from '../../linux/errno.ts';
import { hostSeconds, secondsOf, type Time } from '../../linux/time.ts';
import type { Contents } from '../totals.ts';
import { RecordWriter, readRecords } from './record-file.ts';
import type { StagedLimits } from './refused-imports.ts';

/** What a staged tree has, by the names of the answer. */
export interface StagedCounts {
  files: number;
  directories: number;
  symlinks: number;
  /** Bytes of file contents. */
  size: number;
}

/** Names in a staging directory: the tree, and the list of the directories that the archive names. */
export const TREE = 'tree';
export const DIRECTORIES = 'directories';

/** Members that name a directory again. Each has a record of up to 4 KB, which no quota counts. */
const MAX_REPEATED = 10_000;

/**
 * Writes the members of an archive to a new tree, which nothing else knows yet. If an archive has a path twice, the last
 * one counts. No symbolic link is followed, so a member cannot be written through one. The caller must call `close`.
 */
export class StagedTree implements ArchiveSink {
  readonly #staging: string;
  readonly #limits: StagedLimits;
  readonly #exceeded: (contents: Readonly<Contents>) => Error;
  readonly #tree: WritableTree;
  readonly #directories: RecordWriter;
  readonly #counts: StagedCounts = { files: 0, directories: 0, symlinks: 0, size: 0 };
  #linkBytes = 0;
  #named = 0;
  #file: { fd: number; mtime: Time } | undefined;

  /** `staging`: a directory with an empty `TREE`. `exceeded`: the error to throw beyond the limits. */
  constructor(staging: string, limits: StagedLimits, exceeded: (contents: Readonly<Contents>) => Error) {
    this.#staging = staging;
    this.#limits = limits;
    this.#exceeded = exceeded;
    this.#directories = new RecordWriter(join(staging, DIRECTORIES));
    this.#tree = new WritableTree(join(staging, TREE), () => this.#count('directories', 1));
  }

  get counts(): StagedCounts {
    return { ...this.#counts };
  }

  /** As the codebase's totals count them. */
  get contents(): Contents {
    const { files, directories, symlinks, size } = this.#counts;
    return { files: files + symlinks, bytes: size + this.#linkBytes, directories };
  }

  begin(entry: Entry): void {
    const path = memberPath(entry.path);
    if (path === '') {
      requireNamed(entry);
      return;
    }
    if (entry.type === 'directory') this.#directory(path, entry);
    else this.#place(path, entry);
  }

  content(bytes: Buffer): void {
    this.#counts.size += bytes.length;
    this.#checkLimits();
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#file!.fd, bytes, done);
  }

  end(): void {
    const { fd, mtime } = this.#file!;
    const time = hostSeconds(secondsOf(mtime));
    futimesSync(fd, time, time);
    this.#file = undefined;
    closeSync(fd);
  }

  /** Gives the directories that the archive names their modes and times, as nothing is added to them any more. */
  finish(): void {
    this.#directories.end();
    for (const { path, a: mode, b: time } of readRecords(join(this.#staging, DIRECTORIES)))
      this.#tree.setDirectory(path, mode, time);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file.fd);
    this.#file = undefined;
    this.#directories.end();
    this.#tree.close();
  }

  #directory(path: ByteString, { mode, mtime }: Entry): void {
    this.#enterAbove(path);
    try {
      this.#tree.enter(path);
    } catch (error) {
      if (!isOtherType(error)) throw error;
      // A file that came earlier; the last member counts.
      this.#unlink(path);
      this.#tree.enter(path);
    }
    if (++this.#named > this.#counts.directories + MAX_REPEATED) throw repeated();
    this.#directories.add({ kind: 'directory', path, a: mode, b: secondsOf(mtime) });
  }

  #place(path: ByteString, entry: Entry): void {
    this.#enterAbove(path);
    try {
      this.#make(path, entry);
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
      this.#unlink(path);
      this.#make(path, entry);
    }
  }

  #make(path: ByteString, { type, mode, mtime, target }: Entry): void {
    if (type === 'file') {
      this.#file = { fd: this.#tree.create(path, mode), mtime };
      this.#count('files', 1);
    } else if (type === 'symlink') {
      checkTarget(path, target);
      this.#tree.symlink(target, path, secondsOf(mtime));
      this.#linkBytes += target.length;
      this.#count('symlinks', 1);
    } else {
      this.#link(path, memberPath(target));
    }
  }

  #link(path: ByteString, to: ByteString): void {
    const size = to === path ? undefined : this.#sizeOf(to);
    if (size === undefined) throw badLink(path);
    try {
      this.#tree.link(to, path);
    } catch (error) {
      if (errorCode(error) === 'EMLINK') throw tooManyLinks(path);
      throw error;
    }
    this.#counts.size += size;
    this.#count('files', 1);
  }

  /** The size of the regular file at a path; undefined: there is none. */
  #sizeOf(path: ByteString): number | undefined {
    if (path === '') return undefined;
    try {
      const stats = this.#tree.find(path);
      return stats?.isFile() ? stats.size : undefined;
    } catch (error) {
      if (isOtherType(error)) return undefined;
      throw error;
    }
  }

  #enterAbove(path: ByteString): void {
    const above = parentOf(path);
    try {
      this.#tree.enter(above);
    } catch (error) {
      if (isOtherType(error)) throw belowOther(path, above);
      throw error;
    }
  }

  #unlink(path: ByteString): void {
    const stats = this.#tree.lstat(path);
    if (stats === undefined) return;
    if (stats.isDirectory()) throw twoTypes(path);
    this.#tree.unlink(path);
    if (stats.isSymbolicLink()) {
      this.#linkBytes -= stats.size;
      this.#count('symlinks', -1);
    } else {
      this.#counts.size -= stats.size;
      this.#count('files', -1);
    }
  }

  #count(what: 'files' | 'symlinks' | 'directories', change: 1 | -1): void {
    this.#counts[what] += change;
    this.#checkLimits();
  }

  #checkLimits(): void {
    const { files, directories, symlinks, size } = this.#counts;
    if (size + this.#linkBytes > this.#limits.bytes || files + directories + symlinks > this.#limits.entries)
      throw this.#exceeded(this.contents);
  }
}

function repeated(): ServiceError {
  const what = `names a directory again more than ${MAX_REPEATED} times`;
  return new ServiceError('RESOURCE_EXHAUSTED', `the archive ${what}; nothing was imported`);
}

function isOtherType(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOTDIR' || code === 'ELOOP';
}
