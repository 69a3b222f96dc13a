import type { ByteStream } from '../../readable-file.ts';
import type { Place, TreeStores } from './stores/tree-stores.ts';

/**
 * Exports a directory, as it is when the stream begins: all of it is of one moment. NOT_FOUND before that if there is none.
 * `begin`: admits the transfer, and returns what ends it.
 */
export async function exportTree(
  stores: TreeStores,
  at: () => Place,
  path: string,
  begin: () => Promise<() => void>,
): Promise<ByteStream> {
  await stores.list(at(), { path, recursive: false, page_size: 1, page_token: '' });
  const bytes = async function* () {
    const end = await begin();
    try {
      const { remote } = await stores.export(at(), path);
      try {
        for (let part = await remote.next(); part !== undefined; part = await remote.next()) yield part;
      } finally {
        await remote.close().catch(() => undefined);
      }
    } finally {
      end();
    }
  };
  return { contentType: 'application/x-tar', [Symbol.asyncIterator]: bytes };
}
