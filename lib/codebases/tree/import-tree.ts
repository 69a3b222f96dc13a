import { Gathered } from '../../archive/gathered.ts';
import { readArchive } from '../../archive/read-archive.ts';
import type { Unzstd } from '../../archive/unzstd.ts';
import type { ImportMode } from '../../field-values.ts';
import type { Threads } from '../../threads/thread-pool.ts';
import type { Imported } from './archive/tree-import.ts';
import type { Place, TreeStores } from './stores/tree-stores.ts';

/**
 * Imports an archive, which is decompressed here, with a thread of its own for zstd, and unpacked in the thread of the store. An
 * error leaves the codebase as it was.
 */
export async function importTree(
  stores: TreeStores,
  at: () => Place,
  unzstd: Threads<Unzstd>,
  { archive, mode, onlyAt }: { archive: AsyncIterable<Uint8Array>; mode: ImportMode; onlyAt: string },
): Promise<Imported> {
  const { remote } = await stores.import(at());
  try {
    const gathered = new Gathered((bytes) => remote.feed(bytes));
    try {
      await readArchive(archive, unzstd, (piece) => gathered.add(piece));
      await gathered.end();
    } finally {
      await gathered.settled();
    }
    return await remote.finish(mode, onlyAt, at().owner);
  } finally {
    await remote.close().catch(() => undefined);
  }
}
