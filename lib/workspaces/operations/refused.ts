import { type ByteString, joinPath } from '../../byte-string.ts';
import { EACCES } from '../../linux/errno.ts';
import { S_IFLNK } from '../../linux/mode.ts';
import { MERGED, mayChangeName, WRITE } from '../../permissions/index.ts';
import { AGENT, ownRule } from '../access/access.ts';
import { Node } from '../nodes/node.ts';
import { mayTakeAsText } from '../redacted/redacted-file.ts';
import type { Workspace } from '../workspace.ts';

/** A node, or a name in a directory. */
type Tried = Node<Workspace> | readonly [dir: Node<Workspace>, name: ByteString];

/** Runs an operation, and records the path that the rules refuse it for: the first one that may not be changed. */
export function recordingRefusal<T>(workspace: Workspace, run: () => T, ...tried: Tried[]): T {
  try {
    return run();
  } catch (thrown) {
    if (thrown === EACCES) {
      const paths = tried.map((each) => pathOf(workspace, each));
      const isKept = (path: ByteString) => !mayChangeName(workspace.stateOf(path).level);
      workspace.refusals.add(paths.find(isKept) ?? paths[0]!);
    }
    throw thrown;
  }
}

function pathOf({ tree }: Workspace, tried: Tried): ByteString {
  return tried instanceof Node ? tree.pathOf(tried) : joinPath(tree.pathOf(tried[0]), tried[1]);
}

/**
 * Records what the kernel refused by the mode bits, which it has cached: it asks for the attributes once more before it does. It
 * also asks after it has read the node, or was told of a change; a refusal right after that is not recorded.
 */
export function recordAsked(workspace: Workspace, node: Node): void {
  const mayBeStale = node.mayHaveStaleAttributes;
  node.mayHaveStaleAttributes = false;
  if (!mayBeStale && isRefusedByMode(workspace, node)) workspace.refusals.add(workspace.tree.pathOf(node));
}

/** Whether the mode bits forbid what the stored ones may allow. */
function isRefusedByMode(workspace: Workspace, node: Node): boolean {
  const level = AGENT.level(node);
  if (level === WRITE || workspace.spec.anyUid || node.type === S_IFLNK) return false;
  if (node.isDirectory) return !ownRule(AGENT, node).writableBelow;
  return level !== MERGED || !mayTakeAsText(workspace, node);
}
