import { type ByteString, joinPath } from '../../byte-string.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { VIEW } from '../../permissions/index.ts';
import type { Node } from '../nodes/node.ts';
import type { DirectoryListing } from '../stored/stored-files.ts';
import type { Workspace } from '../workspace.ts';

/** Limits of what one directory records, because a program can look up any number of names. */
const MAX_NAMES = 16;
const MAX_LENGTH = 64;

/**
 * Records a lookup that returns "not found" because rules hide the name, if it exists: the kernel caches a negative dentry, which
 * new rules must invalidate, and the owner may ask what was refused.
 */
export function recordHiddenMiss({ refusals, tree }: Workspace, dir: Node, name: ByteString): void {
  const known = dir.children?.get(name);
  if (known !== undefined) known.staleDentry = false;
  if (dir.agentRuleOf(name).level >= VIEW) return;
  refusals.add(joinPath(tree.pathOf(dir), name), true);
  if (dir.hiddenMisses === 'many') return;
  dir.hiddenMisses ??= new Set();
  if (dir.hiddenMisses.size >= MAX_NAMES || name.length > MAX_LENGTH) dir.hiddenMisses = 'many';
  else dir.hiddenMisses.add(name);
}

/** Returns the names of which the kernel may hold a negative dentry because rules hid them. */
export function* hiddenMisses(workspace: Workspace, dir: Node): Steps<Iterable<ByteString>> {
  if (dir.hiddenMisses === undefined || (dir.links.length === 0 && dir !== workspace.tree.root)) return [];
  if (dir.hiddenMisses !== 'many') return dir.hiddenMisses;
  return namesIn(yield* workspace.stored.listings.listing(dir));
}

function* namesIn(listing: DirectoryListing): Generator<ByteString> {
  for (const { name } of listing.values()) yield name;
}
