import { type MemberHead, memberHead, memberPadding, tarEnd } from '../../../archive/tar.ts';
import type { ByteString } from '../../../byte-string.ts';
import type { Disk } from '../../../disk/disk.ts';
import type { ObjectStore } from '../../../store/object-store.ts';
import { type DirectoryEntry, type Entry, isDirectory, TYPE } from '../../../trees/format/entry.ts';
import { ContentsReader } from '../contents-reader.ts';
import { withStore } from '../store-error.ts';
import { type Found, walk } from '../walk.ts';

/** Bytes of the archive that one call returns: about a millisecond of small files. */
const STEP_BYTES = 256 * 1024;
/** Hard links that are remembered; the files of further ones are in the archive several times. */
const MAX_LINKS = 100_000;

/**
 * One tree as an archive, step by step, in byte order of the names in each directory. All of it is of one moment. The caller
 * must call `close`.
 */
export class TreeExport {
  readonly #store: ObjectStore;
  readonly #disk: Disk;
  readonly #members: Iterator<Found>;
  /** By inode number: the path of the first name of a file with several. */
  readonly #links = new Map<number, ByteString>();
  #file: { reader: ContentsReader; size: number } | undefined;
  #isDone = false;

  /** Names in the archive start at the directory. */
  constructor(store: ObjectStore, disk: Disk, directory: DirectoryEntry) {
    this.#store = store;
    this.#disk = disk;
    this.#members = walk(store, directory);
  }

  /** The next bytes; undefined after the last ones. */
  next(): Uint8Array | undefined {
    return withStore(() => this.#next());
  }

  close(): void {
    this.#isDone = true;
    this.#file?.reader.close();
    this.#file = undefined;
  }

  #next(): Uint8Array | undefined {
    if (this.#isDone) return undefined;
    const parts: Uint8Array[] = [];
    for (let length = 0; length < STEP_BYTES && !this.#isDone; length += parts.at(-1)!.length)
      parts.push(this.#file === undefined ? this.#member() : this.#content(STEP_BYTES - length));
    return Buffer.concat(parts);
  }

  #member(): Uint8Array {
    const next = this.#members.next();
    if (next.done) {
      this.#isDone = true;
      return tarEnd();
    }
    const { path, entry } = next.value;
    const { mode, mtime, mtimeNs } = entry;
    const head = { path, mode: mode & 0o777, mtime: { sec: mtime, nsec: mtimeNs } };
    if (isDirectory(entry)) return memberHead({ ...head, type: 'directory', size: 0 });
    if (entry.type === TYPE.symlink) return memberHead({ ...head, type: 'symlink', size: 0, target: entry.target! });
    return this.#fileHead(head, entry);
  }

  #fileHead(head: Pick<MemberHead, 'path' | 'mode' | 'mtime'>, entry: Entry): Uint8Array {
    const first = this.#links.get(entry.ino);
    if (first !== undefined) return memberHead({ ...head, type: 'link', size: 0, target: first });
    if (entry.nlink > 1 && this.#links.size < MAX_LINKS) this.#links.set(entry.ino, head.path);
    const { size } = entry;
    if (size > 0) this.#file = { reader: new ContentsReader(this.#store, this.#disk, entry), size };
    return memberHead({ ...head, type: 'file', size });
  }

  #content(most: number): Uint8Array {
    const { reader, size } = this.#file!;
    const part = reader.read(most);
    if (reader.left > 0) return part;
    reader.close();
    this.#file = undefined;
    return Buffer.concat([part, memberPadding(size)]);
  }
}
