import { type ByteString, baseNameOf, joinPath, parentOf, ROOT_PATH, splitPath } from '../../byte-string.ts';
import { ServiceError } from '../../errors.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { EACCES, EISDIR, ENOTDIR } from '../../linux/errno.ts';
import { S_IFDIR, S_IFLNK, S_IFMT, S_IFREG } from '../../linux/mode.ts';
import { type RuleState, WRITE } from '../../permissions/index.ts';
import { mergesAt } from '../base/merged-base.ts';
import { Change } from '../history/change.ts';
import type { Node } from '../nodes/node.ts';
import { requireShortPath } from '../nodes/path-limit.ts';
import { requireAbsent } from '../operations/entries.ts';
import { stageLoss } from '../operations/removal.ts';
import type { Unpacked } from '../workspace-files.ts';
import { quotePath, toServiceError } from './errors.ts';
import { type FileRequest, MAY_PASS, MAY_WRITE } from './file-request.ts';
import { makeOne } from './names.ts';
import { invalidateInode, invalidateName } from './notify.ts';
import { resolveWithoutMaking } from './place.ts';

const DIRECTORY_MODE = 0o755;
/** Members handled in one step. */
const ITEMS_PER_STEP = 16;

/** A directory that receives members: an existing one, or one that this change creates. */
type TargetDirectory = { state: RuleState } & ({ node: Node; id?: undefined } | { node?: undefined; id: number });

/** A new entry of an existing directory. */
interface NewName {
  dir: Node;
  name: ByteString;
  type: number;
  old: Node | undefined;
}

/** Throws what `unpack` would throw for `path` itself, as far as it is known now; changes nothing. */
export function mayUnpack(request: FileRequest, path: ByteString): void {
  const spot = resolveWithoutMaking(request, path);
  if (spot?.node !== undefined && !spot.node.isDirectory) throw ENOTDIR;
  if (spot?.dir !== undefined && spot.node === undefined)
    requireAbsent(request.workspace, request.access, spot.dir, spot.name);
}

/**
 * Creates all members below `path` in one journal record, so that a crash leaves all or none. Symlinks below `path` are
 * not followed. Throws ServiceErrors that name the member's path. The caller holds the workspace.
 */
export function* unpack(request: FileRequest, path: ByteString, members: readonly Unpacked[]): Steps<void> {
  const made = (dir: Node, name: ByteString) => makeOne(request, dir, name, DIRECTORY_MODE);
  const top = request.walk(path, true, made);
  const node = top.node ?? made(top.dir!, top.name);
  if (!node.isDirectory) throw ENOTDIR;
  const counter = new StepCounter(ITEMS_PER_STEP);
  const unpacking = new Unpacking(request, path, node);
  yield* Change.making(request.workspace, function* (change) {
    for (const member of members) {
      yield* counter.count();
      try {
        unpacking.add(change, member);
      } catch (error) {
        throw toServiceError(error, joinPath(path, member.path));
      }
    }
    for (const dir of unpacking.changed()) change.touch(dir);
  });
  yield* unpacking.finishing();
  for (const member of members) {
    if (member.type === 'file') request.workspace.handles.close(request.workspace.tree, member.handle);
    yield* counter.count();
  }
}

class Unpacking {
  readonly #request: FileRequest;
  readonly #top: ByteString;
  readonly #directories = new Map<ByteString, TargetDirectory>();
  readonly #newNames: NewName[] = [];

  constructor(request: FileRequest, top: ByteString, node: Node) {
    this.#request = request;
    this.#top = top;
    this.#directories.set(ROOT_PATH, { state: request.access.rule(node), node });
  }

  /** Adds a member. Each path comes once; its parents may come before it or not at all. */
  add(change: Change, member: Unpacked): void {
    if (member.type === 'directory') {
      this.#directory(change, member.path, member.mode);
      return;
    }
    const into = this.#directory(change, parentOf(member.path), DIRECTORY_MODE);
    const name = baseNameOf(member.path);
    const old = this.#vacate(change, into, name);
    this.#requireShort(member.path);
    const { workspace, caller } = this.#request;
    const id =
      member.type === 'file'
        ? workspace.handles.get(member.handle).inode!.id
        : change.create(S_IFLNK | 0o777, caller.uid, caller.gid, { target: member.target });
    this.#link(change, into, name, id, member.type === 'file' ? S_IFREG : S_IFLNK, old);
  }

  /** The existing directories that get new entries. */
  changed(): Set<Node> {
    return new Set(this.#newNames.map(({ dir }) => dir));
  }

  /** Updates nodes and listings. Called after the change was committed. */
  *finishing(): Steps<void> {
    const counter = new StepCounter(ITEMS_PER_STEP);
    for (const { dir, name, type, old } of this.#newNames) {
      if (old !== undefined) {
        this.#request.workspace.tree.unlink(this.#request.access, old, dir, name);
        invalidateInode(this.#request, old);
        dir.listing?.remove(name);
      }
      dir.listing?.add(name, type);
      invalidateName(this.#request, dir, name);
      yield* counter.count();
    }
  }

  #directory(change: Change, path: ByteString, mode: number): TargetDirectory {
    const known = this.#directories.get(path);
    if (known !== undefined) return known;
    let at = ROOT_PATH;
    let into = this.#directories.get(ROOT_PATH)!;
    for (const name of splitPath(path)) {
      at = joinPath(at, name);
      const next =
        this.#directories.get(at) ?? this.#openDirectory(change, into, name, at, at === path ? mode : DIRECTORY_MODE);
      this.#directories.set(at, next);
      into = next;
    }
    return into;
  }

  /** Checks the path length by names, as new directories have no node yet. */
  #requireShort(path: ByteString): void {
    requireShortPath(this.#directories.get(ROOT_PATH)!.node!, path);
  }

  #openDirectory(
    change: Change,
    into: TargetDirectory,
    name: ByteString,
    path: ByteString,
    mode: number,
  ): TargetDirectory {
    const request = this.#request;
    const node = into.node && request.child(into.node, name);
    if (node?.type === S_IFLNK) {
      const where = quotePath(joinPath(this.#top, path));
      throw new ServiceError('FAILED_PRECONDITION', `${where} is a symbolic link, which is not followed`);
    }
    if (node !== undefined && !node.isDirectory) throw ENOTDIR;
    if (node !== undefined) return { state: request.access.rule(node), node };
    this.#vacate(change, into, name);
    this.#requireShort(path);
    const merges = into.node === undefined || mergesAt(request.workspace, into.node, name);
    const id = change.create(S_IFDIR | mode, request.caller.uid, request.caller.gid, { merges });
    this.#link(change, into, name, id, S_IFDIR, undefined);
    return { state: into.state.child(name), id };
  }

  /** Removes the existing file of a name and returns its node. Throws unless the name may be given to a member. */
  #vacate(change: Change, into: TargetDirectory, name: ByteString): Node | undefined {
    const request = this.#request;
    if (into.node === undefined) {
      if (into.state.child(name).level !== WRITE) throw EACCES;
      return undefined;
    }
    const old = request.child(into.node, name);
    if (old === undefined) {
      requireAbsent(request.workspace, request.access, into.node, name);
      request.require(into.node, MAY_WRITE | MAY_PASS);
      return undefined;
    }
    if (old.isDirectory) throw EISDIR;
    if (request.access.level(old) < WRITE || request.access.ruleOf(into.node, name).level < WRITE) throw EACCES;
    request.require(into.node, MAY_WRITE | MAY_PASS);
    stageLoss(change, old);
    change.unlink(into.node, name);
    return old;
  }

  #link(
    change: Change,
    into: TargetDirectory,
    name: ByteString,
    id: number,
    type: number,
    old: Node | undefined,
  ): void {
    if (into.node === undefined) {
      change.linkIn(into.id, name, id);
      return;
    }
    change.link(into.node, name, id);
    this.#newNames.push({ dir: into.node, name, type: type & S_IFMT, old });
  }
}
