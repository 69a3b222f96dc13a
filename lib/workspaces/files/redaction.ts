import { type ByteString, joinPath, ROOT_PATH, splitPath } from '../../byte-string.ts';
import { EACCES } from '../../linux/errno.ts';
import { S_IFLNK } from '../../linux/mode.ts';
import { isRedactedLevel } from '../../permissions/index.ts';
import { AGENT } from '../access/access.ts';
import type { Node } from '../nodes/node.ts';
import { requireFile } from '../operations/contents.ts';
import { isRedacted, redactedForm } from '../redacted/redacted-file.ts';
import { placeholdersIn } from '../redacted/shown-values.ts';
import type { Redaction } from '../workspace-files.ts';
import type { FileRequest } from './file-request.ts';

/** See `WorkspaceFiles.redaction`. Throws EACCES for an agent, also for one whose link the owner followed. */
export function redaction(request: FileRequest, path: ByteString, follow: boolean): Redaction | undefined {
  if (!follow) requireNoLinks(request, path);
  const node = request.find(path, follow);
  if (request.access.actor !== 'owner') throw EACCES;
  requireFile(node);
  if (!isRedacted(AGENT, node)) return textOf(request, node);
  const { bytes, isHidden, replaced } = redactedForm(request.workspace, node);
  return { content: bytes.toString(), isHidden, replaced };
}

/** Of a file that the agent wrote at a redacted path: with the values of the base that a commit would put back. */
function textOf({ workspace, isOwner }: FileRequest, node: Node): Redaction | undefined {
  const link = node.links[0];
  if (!isOwner || link === undefined || !node.isAgentText) return undefined;
  const state = link.parent.agentRuleOf(link.name);
  if (!isRedactedLevel(state.level)) return undefined;
  const { content, replaced } = workspace.computeOrPostpone([placeholdersIn, node, node.version], () =>
    placeholdersIn(workspace, node, workspace.tree.pathOf(node), state),
  );
  return { content, isHidden: false, replaced };
}

/** Throws EACCES for a path with a symlink, which could lead to the values of another file. */
function requireNoLinks(request: FileRequest, path: ByteString): void {
  let at = ROOT_PATH;
  for (const name of splitPath(path)) {
    at = joinPath(at, name);
    if (request.walk(at, false).node?.type === S_IFLNK) throw EACCES;
  }
}
