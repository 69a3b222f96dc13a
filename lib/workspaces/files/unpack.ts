import type { ByteString } from '../../byte-string.ts';
import { ServiceError } from '../../errors.ts';
import { EACCES, EISDIR, ENOTDIR } from '../../linux/errno.ts';
import { S_IFDIR, S_IFLNK, S_IFMT, S_IFREG } from '../../linux/mode.ts';
import { type RuleState, WRITE } from '../../permissions/index.ts';
import { joinPath } from '../base/base.ts';
import { mergesAt } from '../base/merged-base.ts';
import { Change } from '../history/change.ts';
import type { Node } from '../nodes/node.ts';
import { requireShortPath } from '../nodes/path-limit.ts';
import { requireAbsent } from '../operations/entries.ts';
import { stageLoss } from '../operations/removal.ts';
import type { Unpacked } from '../workspace-files.ts';
import { makeOne } from './names.ts';
import { tellInode, tellName } from './notify.ts';
import { foresee } from './place.ts';
import { refusal, shown } from './refusal.ts';
import { MAY_PASS, MAY_WRITE, type Visit } from './visit.ts';

const DIRECTORY_MODE = 0o755;

/** A directory that things are put in: one that is there, or one that the change makes. */
type Into = { state: RuleState } & ({ node: Node; id?: undefined } | { node?: undefined; id: number });

/** A name that a directory which is there comes to have. */
interface Given {
  dir: Node;
  name: ByteString;
  type: number;
  old: Node | undefined;
}

export function mayUnpack(visit: Visit, path: ByteString): void {
  const spot = foresee(visit, path);
  if (spot?.node !== undefined && !spot.node.isDirectory) throw ENOTDIR;
  if (spot?.dir !== undefined && spot.node === undefined)
    requireAbsent(visit.workspace, visit.access, spot.dir, spot.name);
}

/** All or nothing, also over a crash: one record of the journal. Below `path` no symlink is followed. */
export function unpack(visit: Visit, path: ByteString, members: readonly Unpacked[]): void {
  const made = (dir: Node, name: ByteString) => makeOne(visit, dir, name, DIRECTORY_MODE);
  const top = visit.walk(path, true, made);
  const node = top.node ?? made(top.dir!, top.name);
  if (!node.isDirectory) throw ENOTDIR;
  const unpacking = new Unpacking(visit, path, node);
  Change.make(visit.workspace, (change) => {
    for (const member of members) {
      try {
        unpacking.add(change, member);
      } catch (error) {
        throw refusal(error, joinPath(path, member.path));
      }
    }
    for (const dir of unpacking.changed()) change.touch(dir);
  });
  unpacking.done();
  for (const member of members) {
    if (member.type === 'file') visit.workspace.handles.close(visit.workspace.tree, member.handle);
  }
}

class Unpacking {
  readonly #visit: Visit;
  readonly #top: ByteString;
  readonly #directories = new Map<ByteString, Into>();
  readonly #given: Given[] = [];

  constructor(visit: Visit, top: ByteString, node: Node) {
    this.#visit = visit;
    this.#top = top;
    this.#directories.set('', { state: visit.access.rule(node), node });
  }

  /** Each path once; what is above a path may come before it or not at all. */
  add(change: Change, member: Unpacked): void {
    if (member.type === 'directory') {
      this.#directory(change, member.path, member.mode);
      return;
    }
    const slash = member.path.lastIndexOf('/');
    const into = this.#directory(change, slash === -1 ? '' : member.path.slice(0, slash), DIRECTORY_MODE);
    const name = member.path.slice(slash + 1);
    const old = this.#room(change, into, name);
    this.#requireShort(member.path);
    const { workspace, caller } = this.#visit;
    const id =
      member.type === 'file'
        ? workspace.handles.get(member.handle).inode!.id
        : change.create(S_IFLNK | 0o777, caller.uid, caller.gid, { target: member.target });
    this.#give(change, into, name, id, member.type === 'file' ? S_IFREG : S_IFLNK, old);
  }

  changed(): Set<Node> {
    return new Set(this.#given.map(({ dir }) => dir));
  }

  /** After the change was committed. */
  done(): void {
    for (const { dir, name, type, old } of this.#given) {
      if (old !== undefined) {
        this.#visit.workspace.tree.unlink(this.#visit.access, old, dir, name);
        tellInode(this.#visit, old);
        dir.listing?.remove(name);
      }
      dir.listing?.add(name, type);
      tellName(this.#visit, dir, name);
    }
  }

  #directory(change: Change, path: ByteString, mode: number): Into {
    const known = this.#directories.get(path);
    if (known !== undefined) return known;
    let at = '';
    let into = this.#directories.get('')!;
    for (const name of path.split('/')) {
      at = joinPath(at, name);
      const next =
        this.#directories.get(at) ?? this.#enter(change, into, name, at, at === path ? mode : DIRECTORY_MODE);
      this.#directories.set(at, next);
      into = next;
    }
    return into;
  }

  /** Directories to be made are no nodes yet, so the path is known by its names. */
  #requireShort(path: ByteString): void {
    requireShortPath(this.#directories.get('')!.node!, path);
  }

  #enter(change: Change, into: Into, name: ByteString, path: ByteString, mode: number): Into {
    const visit = this.#visit;
    const node = into.node && visit.child(into.node, name);
    if (node?.type === S_IFLNK) {
      const where = shown(joinPath(this.#top, path));
      throw new ServiceError('FAILED_PRECONDITION', `${where} is a symbolic link, which is not followed`);
    }
    if (node !== undefined && !node.isDirectory) throw ENOTDIR;
    if (node !== undefined) return { state: visit.access.rule(node), node };
    this.#room(change, into, name);
    this.#requireShort(path);
    const merges = into.node === undefined || mergesAt(visit.workspace, into.node, name);
    const id = change.create(S_IFDIR | mode, visit.caller.uid, visit.caller.gid, { merges });
    this.#give(change, into, name, id, S_IFDIR, undefined);
    return { state: into.state.child(name), id };
  }

  /** Makes room for a name; returns what has it now. Throws unless it may be given. */
  #room(change: Change, into: Into, name: ByteString): Node | undefined {
    const visit = this.#visit;
    if (into.node === undefined) {
      if (into.state.child(name).level !== WRITE) throw EACCES;
      return undefined;
    }
    const old = visit.child(into.node, name);
    if (old === undefined) {
      requireAbsent(visit.workspace, visit.access, into.node, name);
      visit.require(into.node, MAY_WRITE | MAY_PASS);
      return undefined;
    }
    if (old.isDirectory) throw EISDIR;
    if (visit.access.level(old) < WRITE || visit.access.ruleOf(into.node, name).level < WRITE) throw EACCES;
    visit.require(into.node, MAY_WRITE | MAY_PASS);
    stageLoss(change, old);
    change.unlink(into.node, name);
    return old;
  }

  #give(change: Change, into: Into, name: ByteString, id: number, type: number, old: Node | undefined): void {
    if (into.node === undefined) {
      change.linkIn(into.id, name, id);
      return;
    }
    change.link(into.node, name, id);
    this.#given.push({ dir: into.node, name, type: type & S_IFMT, old });
  }
}
