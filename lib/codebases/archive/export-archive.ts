import { joinNames } from '../../byte-string.ts';
import type { ByteStream } from '../../readable-file.ts';
import type { Threads } from '../../threads/thread-pool.ts';
import { parseDirectoryPath } from '../file-path.ts';
import { checkDirectory } from '../list-files.ts';
import type { TreeExport } from './tree-export.ts';

/** Descriptors of an archive that is read or written: directories kept open of two trees, and files. */
export const ARCHIVE_DESCRIPTORS = 200;

/**
 * Exports a directory of a codebase. Throws NOT_FOUND before the stream has started. Each file is one version; files
 * that are replaced meanwhile are of different moments. `begin`: admits the transfer, and returns
 * what ends it.
 */
export async function exportArchive(
  root: string,
  path: string,
  threads: Threads<TreeExport>,
  begin: () => Promise<() => void>,
): Promise<ByteStream> {
  const names = parseDirectoryPath('path', path);
  await checkDirectory(root, names, path);
  const bytes = async function* () {
    const end = await begin();
    try {
      const { remote, release } = await threads.take();
      try {
        await remote.open(root, joinNames(names));
        for (let part = await remote.next(); part !== undefined; part = await remote.next()) yield part;
      } finally {
        await release();
      }
    } finally {
      end();
    }
  };
  return { contentType: 'application/x-tar', [Symbol.asyncIterator]: bytes };
}
