import { fromLatin1 } from '../../byte-string.ts';
import type {
  DeleteFileRequest,
  FileStat,
  ListDirectoryRequest,
  MakeDirectoryRequest,
  MoveFileRequest,
  StatFileRequest,
} from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import { cursorOf, tokenOf } from '../../paging.ts';
import type { FileAccess } from '../../services.ts';
import type { SandboxContext } from '../context.ts';
import { directoryPath, filePath } from './paths.ts';
import { withFiles } from './session.ts';
import { shownStatus } from './shown-status.ts';

/** Names removed at once; the file system serves programs in between. */
const REMOVED_PER_CALL = 500;

/** Status of one entry, of a symlink itself. NOT_FOUND, PERMISSION_DENIED. */
export async function statFile(
  { sandbox_id, as, path }: FileAccess<StatFileRequest>,
  context: SandboxContext,
): Promise<FileStat> {
  const at = directoryPath('path', path);
  return shownStatus(await withFiles(sandbox_id, as, context, (files) => files.call('stat', at)));
}

/** Paged; a page reads only the directories that it contains. */
export async function listDirectory(
  { sandbox_id, as, path, recursive, page_size, page_token }: FileAccess<ListDirectoryRequest>,
  context: SandboxContext,
): Promise<{ files: FileStat[]; next_page_token: string }> {
  const at = directoryPath('path', path);
  const limit = page_size;
  const scope = JSON.stringify(['files', sandbox_id, at, recursive]);
  const after = fromLatin1(cursorOf(scope, page_token) ?? '');
  const { entries, more } = await withFiles(sandbox_id, as, context, (files) =>
    files.call('list', at, recursive, after, limit),
  );
  const last = entries.at(-1);
  return { files: entries.map(shownStatus), next_page_token: more && last ? tokenOf(scope, last.path) : '' };
}

/** Creates a directory. `mode`: permission bits. ALREADY_EXISTS, unless `parents` is set. */
export async function makeDirectory(
  { sandbox_id, as, path, mode, parents }: FileAccess<MakeDirectoryRequest>,
  context: SandboxContext,
): Promise<FileStat> {
  const at = filePath('path', path);
  return shownStatus(
    await withFiles(sandbox_id, as, context, (files) => files.call('makeDirectory', at, mode, parents)),
  );
}

/** Renames an entry, like rename(2), a symlink itself. ALREADY_EXISTS, unless `replace` is set. */
export async function moveFile(
  { sandbox_id, as, from, to, replace }: FileAccess<MoveFileRequest>,
  context: SandboxContext,
): Promise<FileStat> {
  const source = filePath('from', from);
  const target = filePath('to', to);
  return shownStatus(await withFiles(sandbox_id, as, context, (files) => files.call('move', source, target, replace)));
}

/** Entries of a directory are removed one by one, like rm -r, but only if every one of them may be removed. */
export function deleteFile(
  { sandbox_id, as, path, recursive }: FileAccess<DeleteFileRequest>,
  context: SandboxContext,
): Promise<{ removed: number }> {
  const at = filePath('path', path);
  return withFiles(sandbox_id, as, context, async (files) => {
    let removed = 0;
    for (let more = true; more; ) {
      const begun = removed > 0;
      const step = await files.call('remove', at, recursive, begun, REMOVED_PER_CALL).catch((error: unknown) => {
        // A program removed the rest.
        if (begun && error instanceof ServiceError && error.code === 'NOT_FOUND') return { removed: 0, more: false };
        throw error;
      });
      removed += step.removed;
      more = step.more;
    }
    return { removed };
  });
}
