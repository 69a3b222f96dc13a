import { type ByteString, joinPath, ROOT_PATH } from '../../byte-string.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { EACCES } from '../../linux/errno.ts';
import { isDirectory } from '../../linux/mode.ts';
import { type RuleState, WRITE } from '../../permissions/index.ts';
import type { Access } from '../access/access.ts';
import { mergedBase } from '../base/merged-base.ts';
import { WHITEOUT } from '../delta/index/inode.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import type { LayeredNode } from '../nodes/layered-node.ts';
import type { Listing } from '../nodes/listing.ts';
import { type DirectoryRef, listNames } from '../nodes/merged-listing.ts';

/** Names examined in one step. */
const ENTRIES_PER_STEP = 64;

/** The rules of a directory: of its path, of the path that it would get, and of the base directory that it shows. */
interface States {
  from: RuleState;
  to: RuleState;
  base: RuleState | undefined;
}

/** See `StoredListings.requireWritableBelow`; entries of the base must be WRITE by their path in the base, too. */
export function requireWritableBelow(
  workspace: LayeredWorkspace,
  access: Access,
  top: LayeredNode,
  to: RuleState,
): void {
  const states = statesOf(access, top, to);
  if (areWritable(states)) return;
  const { from, base } = states;
  workspace.computeOrPostpone([checking, access, top, from, to, base], () => checking(workspace, access, top, states));
}

export function checkingBelow(
  workspace: LayeredWorkspace,
  access: Access,
  top: LayeredNode,
  to: RuleState,
): Steps<void> {
  return checking(workspace, access, top, statesOf(access, top, to));
}

function statesOf(access: Access, top: LayeredNode, to: RuleState): States {
  return { from: access.rule(top), to, base: access.actor === 'agent' ? top.baseRule : undefined };
}

function areWritable({ from, to, base }: States): boolean {
  return (
    from.uniformBelow === WRITE && to.uniformBelow === WRITE && (base === undefined || base.uniformBelow === WRITE)
  );
}

function* checking(workspace: LayeredWorkspace, access: Access, top: LayeredNode, ofTop: States): Steps<void> {
  let looked = 0;
  const waiting: [DirectoryRef, States][] = [[top, ofTop]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [dir, states] = next;
    if (areWritable(states)) continue;
    const listing = yield* listNames(workspace, dir);
    for (const [name, below, directory] of namesBelow(workspace, dir, listing)) {
      const [from, to] = [states.from.child(name), states.to.child(name)];
      const base = below.inode === undefined ? states.base?.child(name) : ruleInBase(workspace, access, below);
      if (from.level !== WRITE || to.level !== WRITE) throw EACCES;
      if (below.inode === undefined && (base?.level ?? WRITE) !== WRITE) throw EACCES;
      if (directory) waiting.push([below, { from, to, base }]);
      if (++looked % ENTRIES_PER_STEP === 0) yield;
    }
    if (++looked % ENTRIES_PER_STEP === 0) yield;
  }
}

/** undefined: there is no such path, or its rules do not apply. */
function ruleInBase({ rules }: LayeredWorkspace, access: Access, { basePath }: DirectoryRef): RuleState | undefined {
  return access.actor === 'owner' || basePath === undefined ? undefined : rules.state(basePath);
}

function* namesBelow(
  workspace: LayeredWorkspace,
  dir: DirectoryRef,
  listing: Listing,
): Generator<[ByteString, DirectoryRef, boolean]> {
  for (const { name, type } of listing.values()) {
    const inode = dir.inode?.entries?.get(name);
    const own = inode !== undefined && inode !== WHITEOUT;
    const basePath = own
      ? mergedBase(workspace.base, inode, dir.basePath, name)
      : joinPath(dir.basePath ?? ROOT_PATH, name);
    yield [name, { inode: inode ?? undefined, basePath, listing: undefined }, isDirectory(type)];
  }
}
