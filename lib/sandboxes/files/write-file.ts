import type { FileStat, WriteFileRequest } from '../../contract/messages.ts';
import type { FileAccess } from '../../services.ts';
import type { SandboxContext } from '../context.ts';
import { filePath } from './paths.ts';
import { sendInPieces } from './pieces.ts';
import { type FileSession, withFiles } from './session.ts';
import { shownStatus } from './shown-status.ts';

const PIECE = 1 << 20;

/** Replaces the file atomically; an error of `content` changes nothing. */
export function writeFile(
  { sandbox_id, as, path, mode }: FileAccess<WriteFileRequest>,
  content: AsyncIterable<Uint8Array>,
  context: SandboxContext,
): Promise<FileStat> {
  const at = filePath('path', path);
  return withFiles(sandbox_id, as, context, async (files) => {
    // Checked before the content is transferred in vain.
    await files.call('mayPlace', at);
    const handle = await stageContent(files, content);
    try {
      return shownStatus(await files.call('place', handle, at, mode));
    } catch (error) {
      await drop(files, [handle]);
      throw error;
    }
  });
}

/** Creates a staged file with this content. If content or sandbox fail, nothing is left. */
async function stageContent(files: FileSession, content: AsyncIterable<Uint8Array>): Promise<number> {
  let handle: number | undefined;
  try {
    await sendInPieces(content, PIECE, async (piece) => {
      if (handle === undefined) handle = await files.call('stage', piece);
      else await files.call('append', handle, piece);
    });
    return handle ?? (await files.call('stage', new Uint8Array(0)));
  } catch (error) {
    if (handle !== undefined) await drop(files, [handle]);
    throw error;
  }
}

/**
 * A staged file without a name is deleted when its handle is closed; if the sandbox has ended, it is deleted already.
 */
async function drop(files: FileSession, handles: readonly number[]): Promise<void> {
  if (handles.length > 0) await files.call('close', handles).catch(() => undefined);
}
