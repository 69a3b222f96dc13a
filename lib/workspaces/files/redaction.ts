import type { ByteString } from '../../byte-string.ts';
import { EACCES } from '../../linux/errno.ts';
import { AGENT } from '../access/access.ts';
import { requireFile } from '../operations/contents.ts';
import { isRedacted, redactedForm } from '../redacted/redacted-file.ts';
import type { Redaction } from '../workspace-files.ts';
import type { FileRequest } from './file-request.ts';

/** See `WorkspaceFiles.redaction`. Throws EACCES for an agent, also for one whose link the owner followed. */
export function redaction(request: FileRequest, path: ByteString): Redaction | undefined {
  const node = request.find(path, true);
  if (request.access.actor !== 'owner') throw EACCES;
  requireFile(node);
  if (!isRedacted(AGENT, node)) return undefined;
  const { bytes, isHidden, replaced } = redactedForm(request.workspace, node);
  return { content: bytes.toString(), isHidden, replaced };
}
