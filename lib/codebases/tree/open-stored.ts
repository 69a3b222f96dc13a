import { Readable } from 'node:stream';
import type { StoredFile } from '../../readable-file.ts';
import { Opened } from '../../threads/calls.ts';
import { rangedFile } from '../ranged-file.ts';
import type { Place, SmallFile, TreeStores } from './stores/tree-stores.ts';

/** Opens the present version of a file. The caller closes it; `closed` is called then. */
export async function openStored(stores: TreeStores, at: Place, path: string, closed: () => void): Promise<StoredFile> {
  const opened = await stores.open(at, path);
  if (!(opened instanceof Opened)) return heldFile(opened, closed);
  const { remote, about } = opened;
  // If its thread has ended, there is nothing to close any more.
  const close = () => remote.close().catch(() => undefined);
  return rangedFile({ read: (from, length) => remote.read(from, length), close }, about, closed);
}

function heldFile({ bytes, size, checksum, modified_at }: SmallFile, closed: () => void): StoredFile {
  const whole = { start: 0, end: size };
  const held = ({ start, end } = whole) => bytes.subarray(start, end);
  return {
    size,
    checksum,
    etag: checksum,
    modified_at,
    held,
    read(range = whole) {
      const part = held(range);
      return Readable.from(part.length > 0 ? [part] : [], { objectMode: false });
    },
    close: async () => closed(),
  };
}
