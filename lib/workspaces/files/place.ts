import type { ByteString } from '../../byte-string.ts';
import { EACCES, EISDIR, ESTALE } from '../../linux/errno.ts';
import { S_IFREG } from '../../linux/mode.ts';
import { WRITE } from '../../permissions/index.ts';
import { Change } from '../history/change.ts';
import type { Node } from '../nodes/node.ts';
import { attributes, requireFile } from '../operations/contents.ts';
import { requireAbsent } from '../operations/entries.ts';
import { stageLoss } from '../operations/removal.ts';
import type { FileStatus } from '../workspace-files.ts';
import { makeOne } from './names.ts';
import { tellInode, tellName } from './notify.ts';
import { statusOf } from './status.ts';
import { MAY_PASS, MAY_WRITE, type Spot, type Visit } from './visit.ts';

const FILE_MODE = 0o644;
const DIRECTORY_MODE = 0o755;

/** Without a change. What comes to be in between is found by `place`. */
export function mayPlace(visit: Visit, path: ByteString): void {
  const spot = foresee(visit, path);
  if (spot !== undefined) requirePlace(visit, spot);
}

/** Where a path leads; undefined: below directories that are still to be made, and may be. Throws where they may not. */
export function foresee(visit: Visit, path: ByteString): Spot | undefined {
  let absent = false;
  const spot = visit.walk(path, true, (dir, name, rest) => {
    requireAbsent(visit.workspace, visit.access, dir, name);
    let state = visit.access.rule(dir).child(name);
    for (const each of rest) state = state.child(each);
    if (state.level !== WRITE) throw EACCES;
    visit.require(dir, MAY_WRITE | MAY_PASS);
    absent = true;
    return undefined;
  });
  return absent ? undefined : spot;
}

export function place(visit: Visit, handle: number, path: ByteString, mode: number): FileStatus {
  const { workspace } = visit;
  const { tree, handles } = workspace;
  const staged = handles.get(handle);
  const inode = staged.inode!;
  const made = (dir: Node, name: ByteString) => makeOne(visit, dir, name, DIRECTORY_MODE);
  const spot = visit.walk(path, true, made);
  const { dir, name, node: old } = requirePlace(visit, spot);
  const bits = mode || ((old?.inode ?? old?.base)?.mode ?? FILE_MODE) & 0o777;
  Change.make(workspace, (change) => {
    if (old !== undefined) {
      stageLoss(change, old);
      change.unlink(dir, name);
    }
    change.link(dir, name, inode.id);
    change.attr(staged, { ...attributes(inode), mode: S_IFREG | bits, ctime: change.now });
    change.touch(dir);
  });
  if (old !== undefined) {
    tree.unlink(visit.access, old, dir, name);
    tellInode(visit, old);
  }
  dir.listing?.add(name, S_IFREG);
  // From here on it is found by its name, like any other.
  handles.close(tree, handle);
  tellName(visit, dir, name);
  const node = visit.child(dir, name);
  if (node === undefined) throw ESTALE;
  return statusOf(visit, node, path);
}

/** Throws unless a file may be written there, new or in place of the one that is there. */
function requirePlace(visit: Visit, spot: Spot): Spot & { dir: Node } {
  const { dir, name, node } = spot;
  if (dir === undefined) throw EISDIR;
  if (node !== undefined) {
    requireFile(node);
    if (visit.access.level(node) < WRITE || visit.access.ruleOf(dir, name).level < WRITE) throw EACCES;
    visit.require(node, MAY_WRITE);
  } else {
    requireAbsent(visit.workspace, visit.access, dir, name);
    visit.require(dir, MAY_WRITE | MAY_PASS);
  }
  return { ...spot, dir };
}
