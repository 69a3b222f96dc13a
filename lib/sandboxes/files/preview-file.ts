import { toText } from '../../byte-string.ts';
import type { PreviewFileRequest, PreviewFileResponse } from '../../contract/messages.ts';
import type { SandboxContext } from '../context.ts';
import { filePath } from './paths.ts';
import { withFiles } from './session.ts';

/** Of the answer: the form may be larger than a message can be. */
const MAX_CONTENT = 256 * 1024;
const MAX_VALUES = 1000;

/** The form of a redacted file, without the values. NOT_FOUND, FAILED_PRECONDITION for a directory. */
export async function previewFile(
  { sandbox_id, path }: PreviewFileRequest,
  context: SandboxContext,
): Promise<PreviewFileResponse> {
  const at = filePath('path', path);
  const form = await withFiles(sandbox_id, 'owner', context, (files) => files.call('redaction', at, true));
  if (form === undefined) {
    return { path: toText(at), redacted: false, content: '', hidden: false, values: [], value_count: 0 };
  }
  return {
    path: toText(at),
    redacted: true,
    content: form.content.slice(0, MAX_CONTENT),
    hidden: form.isHidden,
    values: form.replaced.slice(0, MAX_VALUES).map(({ key, placeholder }) => ({ key, placeholder })),
    value_count: form.replaced.length,
  };
}
