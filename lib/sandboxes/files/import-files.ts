import { readArchive } from '../../archive/read-archive.ts';
import { TarReader } from '../../archive/tar-reader.ts';
import type { ImportFilesRequest, ImportFilesResponse } from '../../contract/messages.ts';
import type { ArchiveAccess } from '../../services.ts';
import type { SandboxContext } from '../context.ts';
import { MemberBatch } from './member-batch.ts';
import { directoryPath } from './paths.ts';
import { withFiles } from './session.ts';

/**
 * Imports an archive atomically: contents are staged as they arrive, and all names are created at the end. If an archive
 * has a path twice, the last one counts.
 */
export function importFiles(
  { sandbox_id, as, path }: ArchiveAccess<ImportFilesRequest>,
  archive: AsyncIterable<Uint8Array>,
  context: SandboxContext,
): Promise<ImportFilesResponse> {
  const top = directoryPath('path', path);
  return withFiles(sandbox_id, as, context, async (files) => {
    const unpacking = await files.call('beginUnpack', top);
    const batch = new MemberBatch(files, unpacking);
    try {
      const reader = new TarReader(batch);
      const unzstd = context.platform.unzstd.of(context.find(sandbox_id).record.owner_id);
      await readArchive(archive, unzstd, async (piece) => {
        reader.feed(piece);
        await batch.sendLarge();
        return reader.isDone;
      });
      reader.finish();
      await batch.flush();
      return await files.call('unpack', unpacking, top);
    } catch (error) {
      await batch.drop();
      throw error;
    }
  });
}
