import { fromBuffer } from '../../byte-string.ts';
import { invalidArgument } from '../../errors.ts';
import { sha256 } from '../../store/digest.ts';
import { childOf } from '../../trees/directory/find-entry.ts';
import { isDirectory } from '../../trees/format/entry.ts';
import type { FilePath } from '../file-path.ts';
import type { ChangeQueue } from './change-queue.ts';
import { checksumOf } from './checksum.ts';
import type { Edit } from './edit.ts';
import { inOneStep } from './make-version.ts';
import { newFile, newSymlink } from './new-entry.ts';
import { putEntry } from './put-entry.ts';
import { directoryAt } from './reach.ts';
import { withStore } from './store-error.ts';
import type { TreeParts } from './tree-parts.ts';
import { contentsOf } from './tree-quota.ts';

export interface Uploaded {
  readonly size: number;
  /** Lower-case hex SHA-256. */
  readonly checksum: string;
}

/** Contents that arrive for one path. The caller must call `drop` in any case. */
export interface Upload {
  /** Throws RESOURCE_EXHAUSTED as soon as they are too large. The bytes may be changed afterwards. */
  write(bytes: Uint8Array): void;
  /** They are all: replaces or creates the file, with its missing parent directories. Durable when it resolves. */
  end(): Promise<Uploaded>;
  drop(): void;
}

export function fileUpload(parts: TreeParts, queue: ChangeQueue, path: FilePath, mode: number): Upload {
  const { store, quota } = parts;
  const writing = store.begin();
  const contents = writing.contents();
  const requireRoom = quota.admitting();
  let size = 0;
  return {
    write(bytes) {
      size += bytes.length;
      requireRoom(size);
      withStore(() => {
        admitUpTo(parts, path, size);
        contents.write(bytes);
      });
    },
    async end() {
      const stored = withStore(() => contents.end());
      const make = ({ time }: Edit, ino: number) =>
        newFile({ name: path.name, ino, mode, mtime: time, ctime: time }, stored);
      const put = (edit: Edit) => inOneStep(() => putEntry(edit, path, stored.size, make));
      await queue.add({ kind: 'upload', writing, apply: put });
      return { size: stored.size, checksum: checksumOf(stored.key) };
    },
    drop() {
      contents.drop();
      writing.end();
    },
  };
}

export function symlinkUpload(queue: ChangeQueue, path: FilePath, target: Buffer): Upload {
  const make = ({ time }: Edit, ino: number) =>
    newSymlink({ name: path.name, ino, mtime: time, ctime: time }, fromBuffer(target));
  return {
    write({ length }) {
      if (length > 0) throw invalidArgument('symlink_target', 'is for a file without contents');
    },
    async end() {
      const put = (edit: Edit) => inOneStep(() => putEntry(edit, path, target.length, make));
      await queue.add({ kind: 'upload', apply: put });
      return { size: target.length, checksum: sha256(target).toString('hex') };
    },
    drop() {},
  };
}

/** Concurrent uploads are not counted here, but when each is put in place. */
function admitUpTo({ store, quota, head }: TreeParts, path: FilePath, size: number): void {
  const { root } = head();
  const held = contentsOf(root.totals);
  if (size <= quota.room(held)) return;
  const replaced = childOf(store, directoryAt(store, root, path.parents), path.name);
  const bytes = size - (isDirectory(replaced) ? 0 : (replaced?.size ?? 0));
  quota.admit(held, { bytes, files: 0, directories: 0 });
}
