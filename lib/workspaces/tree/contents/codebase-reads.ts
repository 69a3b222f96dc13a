import { basename, dirname } from 'node:path';
import { fromLatin1 } from '../../../byte-string.ts';
import type { Disk } from '../../../disk/disk.ts';
import type { HostFile } from '../../../host-tree/host-file.ts';
import { errorCode, hostErrno } from '../../../linux/errno.ts';
import { AbsentObject } from '../../../trees/directory/source.ts';
import type { Entry } from '../../../trees/format/entry.ts';
import { FormatError } from '../../../trees/format/format-error.ts';
import { digestOf } from '../../../trees/format/keys.ts';
import { SMALL } from '../../delta/contents/slabs.ts';
import type { CodebaseContents } from './codebase-contents.ts';
import type { Descriptors } from './descriptors.ts';
import type { ReadDamage } from './read-damage.ts';

export interface CodebaseReadsIn {
  readonly disk: Disk;
  readonly codebase: CodebaseContents;
  readonly descriptors: Descriptors;
}

/**
 * Reads contents of the codebase. They never change, and their digest is checked by others: this thread serves the requests of
 * all sandboxes, and hashes nothing.
 */
export class CodebaseReads {
  readonly #in: CodebaseReadsIn;
  readonly #damage: ReadDamage;

  constructor(where: CodebaseReadsIn, damage: ReadDamage) {
    this.#in = where;
    this.#damage = damage;
  }

  /** Reads all of `into`, which is within the contents. */
  read(entry: Entry, offset: number, into: Buffer): void {
    const done =
      entry.size > SMALL ? this.#pread(this.large(entry), into, offset) : this.#readSmall(entry, offset, into);
    if (done < into.length) throw this.#damage.of(entry, `a part of its contents is missing (${objectOf(entry)})`);
  }

  /** A descriptor of contents that are larger than `SMALL`, valid until the next call. */
  large(entry: Entry): number {
    const { disk, codebase, descriptors } = this.#in;
    const path = codebase.path(entry.key);
    return this.#orDamage(entry, () => descriptors.of(path, () => disk.open(path, 'read')));
  }

  hostFile({ key, size }: Entry): HostFile | undefined {
    if (size <= SMALL) return undefined;
    const path = this.#in.codebase.path(key);
    return { root: dirname(path), path: fromLatin1(basename(path)) };
  }

  #readSmall(entry: Entry, offset: number, into: Buffer): number {
    const contents = this.#orDamage(entry, () => this.#in.codebase.contents(entry.key, entry.size));
    try {
      return this.#pread(contents.fd, into, contents.offset + offset);
    } finally {
      if (contents.own) this.#in.disk.close(contents.fd);
    }
  }

  #pread(fd: number, into: Buffer, offset: number): number {
    try {
      return this.#in.disk.pread(fd, into, offset);
    } catch (error) {
      throw hostErrno(error);
    }
  }

  #orDamage<T>(entry: Entry, find: () => T): T {
    try {
      return find();
    } catch (error) {
      if (error instanceof AbsentObject && error.reason === 'postponed') throw error;
      if (error instanceof AbsentObject || error instanceof FormatError) throw this.#damage.of(entry, error.message);
      if (errorCode(error) !== 'ENOENT') throw hostErrno(error);
      throw this.#damage.of(entry, `its contents are missing (${objectOf(entry)})`);
    }
  }
}

function objectOf({ key }: Entry): string {
  return `object ${digestOf(key)!.toString('hex')}`;
}
