import type { ByteString } from '../../byte-string.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { VIEW } from '../../permissions/index.ts';
import { listNames } from '../nodes/merged-listing.ts';
import type { Node } from '../nodes/node.ts';
import type { Workspace } from '../workspace.ts';

/** Beyond these a directory does not remember: a program can ask for any number of names. */
const MAX_NAMES = 16;
const MAX_LENGTH = 64;

/** The kernel is told that a name is not there: when rules are what hides it, other rules may show it. */
export function deny(dir: Node, name: ByteString): void {
  const known = dir.children?.get(name);
  if (known !== undefined) known.stale = false;
  if (dir.denied === 'many' || dir.agentRuleOf(name).level >= VIEW) return;
  dir.denied ??= new Set();
  if (dir.denied.size >= MAX_NAMES || name.length > MAX_LENGTH) dir.denied = 'many';
  else dir.denied.add(name);
}

/** Names that the kernel may take for absent because rules hid them. */
export function* deniedNames(workspace: Workspace, dir: Node): Steps<Iterable<ByteString>> {
  if (dir.denied === undefined || (dir.links.length === 0 && dir !== workspace.tree.root)) return [];
  if (dir.denied !== 'many') return dir.denied;
  const listing = yield* listNames(workspace, dir);
  return listing.names();
}
