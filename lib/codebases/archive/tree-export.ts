import { closeSync, type Dirent, fstatSync, readSync } from 'node:fs';
import { type MemberHead, memberHead, memberPadding, tarEnd } from '../../archive/tar.ts';
import { type ByteString, fromBuffer, fromLatin1, joinPath, sliceOf } from '../../byte-string.ts';
import { ServiceError } from '../../errors.ts';
import { HeldDirectories } from '../../host-tree/held-directories.ts';
import { HostTree } from '../../host-tree/host-tree.ts';
import { timeOf } from '../../linux/time.ts';
import { serveThread } from '../../threads/serve-thread.ts';

/** Bytes of the archive that one call returns. */
const STEP_BYTES = 1 << 20;
/** Directories kept open. */
const OPEN = 64;
/** Hard links that are remembered; the files of further ones are in the archive several times. */
const MAX_LINKS = 100_000;

interface OpenFile {
  fd: number;
  left: number;
  size: number;
}

/**
 * Encodes the files of a codebase as an archive, step by step, in byte order of the names in each directory. Each file
 * is one version. Entries that vanish meanwhile are left out. Runs in a thread of its own. The caller must call `close`.
 */
export class TreeExport {
  #tree: HostTree | undefined;
  #top = 0;
  /** The entries left of each directory on the way, innermost last. */
  #levels: { path: ByteString; entries: Dirent[]; next: number }[] = [];
  #file: OpenFile | undefined;
  #isDone = false;
  /** By device and inode: the path in the archive of a file with several names. */
  readonly #links = new Map<string, ByteString>();

  /** `path`: directory in the tree `root`; names in the archive start there. */
  open(root: string, path: ByteString): void {
    this.#tree = new HostTree(root, new HeldDirectories(OPEN));
    this.#top = path === '' ? 0 : path.length + 1;
    this.#enter(path);
  }

  /** The next bytes; undefined after the last ones. */
  next(): Uint8Array | undefined {
    if (this.#isDone) return undefined;
    const parts: Uint8Array[] = [];
    let length = 0;
    while (length < STEP_BYTES) {
      const part = this.#file === undefined ? this.#member() : this.#content(this.#file, STEP_BYTES - length);
      if (part === undefined) {
        this.#isDone = true;
        parts.push(tarEnd());
        break;
      }
      parts.push(part);
      length += part.length;
    }
    return Buffer.concat(parts);
  }

  close(): void {
    this.#closeFile();
    this.#tree?.close();
    this.#tree = undefined;
  }

  #enter(path: ByteString): void {
    const entries = this.#tree!.readdir(path).sort((a, b) => (a.name < b.name ? -1 : 1));
    this.#levels.push({ path, entries, next: 0 });
  }

  /** The header of the next member; undefined: there is none. */
  #member(): Uint8Array | undefined {
    for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) {
      const entry = level.entries[level.next++];
      if (entry === undefined) {
        this.#levels.pop();
        continue;
      }
      const path = joinPath(level.path, fromLatin1(entry.name));
      const head = entry.isFile() ? this.#fileHead(path) : this.#otherHead(path);
      if (head === undefined) continue;
      if (entry.isDirectory()) this.#enter(path);
      return head;
    }
    return undefined;
  }

  #fileHead(path: ByteString): Uint8Array | undefined {
    const fd = this.#tree!.openFile(path);
    if (fd === undefined) return undefined;
    const stats = fstatSync(fd, { bigint: true });
    if (!stats.isFile()) {
      closeSync(fd);
      return undefined;
    }
    const size = Number(stats.size);
    const head = { path: this.#inArchive(path), mode: Number(stats.mode) & 0o777, mtime: timeOf(stats.mtimeNs) };
    const first = stats.nlink > 1n ? this.#linked(`${stats.dev}:${stats.ino}`, head.path) : undefined;
    if (first !== undefined || size === 0) closeSync(fd);
    if (first !== undefined) return memberHead({ ...head, type: 'link', size: 0, target: first });
    if (size > 0) this.#file = { fd, left: size, size };
    return memberHead({ ...head, type: 'file', size });
  }

  /** The path of an earlier name of the same file; undefined: this is the first one. */
  #linked(identity: string, path: ByteString): ByteString | undefined {
    const first = this.#links.get(identity);
    if (first === undefined && this.#links.size < MAX_LINKS) this.#links.set(identity, path);
    return first;
  }

  #otherHead(path: ByteString): Uint8Array | undefined {
    const stats = this.#tree!.lstat(path);
    if (stats === undefined) return undefined;
    const head: Pick<MemberHead, 'path' | 'mode' | 'mtime' | 'size'> = {
      path: this.#inArchive(path),
      mode: Number(stats.mode) & 0o777,
      mtime: timeOf(stats.mtimeNs),
      size: 0,
    };
    if (stats.isDirectory()) return memberHead({ ...head, type: 'directory' });
    const target = stats.isSymbolicLink() ? this.#tree!.readlink(path) : undefined;
    return target && memberHead({ ...head, type: 'symlink', target: fromBuffer(target) });
  }

  #inArchive(path: ByteString): ByteString {
    return sliceOf(path, this.#top);
  }

  #content(file: OpenFile, max: number): Uint8Array {
    const bytes = Buffer.allocUnsafe(Math.min(file.left, max));
    const read = readSync(file.fd, bytes, 0, bytes.length, null);
    if (read === 0) throw new ServiceError('DATA_LOSS', 'a file is shorter than it was');
    file.left -= read;
    const part = bytes.subarray(0, read);
    if (file.left > 0) return part;
    this.#closeFile();
    return Buffer.concat([part, memberPadding(file.size)]);
  }

  #closeFile(): void {
    if (this.#file !== undefined) closeSync(this.#file.fd);
    this.#file = undefined;
  }
}

/** Runs the thread of the role `tree-export`. */
export function runTreeExport(): void {
  serveThread(() => new TreeExport());
}
