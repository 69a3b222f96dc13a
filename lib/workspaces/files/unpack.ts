import { type ByteString, baseNameOf, joinPath, parentOf, ROOT_PATH, splitPath } from '../../byte-string.ts';
import { ServiceError } from '../../errors.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { EACCES, EISDIR, ENOTDIR } from '../../linux/errno.ts';
import { S_IFDIR, S_IFLNK, S_IFMT, S_IFREG } from '../../linux/mode.ts';
import type { Time } from '../../linux/time.ts';
import { mayChangeName, type RuleState } from '../../permissions/index.ts';
import { mergesAt } from '../base/merged-base.ts';
import { Change } from '../history/change.ts';
import { type LayeredWorkspace, requireLayered } from '../layered-workspace.ts';
import type { LayeredNode } from '../nodes/layered-node.ts';
import type { Node } from '../nodes/node.ts';
import { requireShortPath } from '../nodes/path-limit.ts';
import { requireAbsent } from '../operations/entries.ts';
import { isTextAt, requireReplaceable } from '../redacted/agent-text.ts';
import { findingForm, isRedacted } from '../redacted/redacted-file.ts';
import { stageLoss, stageText } from '../stored/layered-names.ts';
import type { ArchiveMember, UnpackedCounts } from '../workspace-files.ts';
import { Unpacking } from './collected.ts';
import { quotePath, toServiceError } from './errors.ts';
import { type FileRequest, MAY_PASS, MAY_WRITE } from './file-request.ts';
import { makeOne } from './names.ts';
import { invalidateInode, invalidateName } from './notify.ts';
import { resolveWithoutMaking } from './place.ts';
import type { Collected, CollectedFile } from './unpackings.ts';

const DIRECTORY_MODE = 0o755;
/** A directory that the archive does not name. */
const IMPLICIT: NewDirectory = { mode: DIRECTORY_MODE };
/** Members handled in one step. */
const ITEMS_PER_STEP = 16;

interface NewDirectory {
  mode: number;
  /** Absent: the time of the import. */
  mtime?: Time;
}

/** A directory that receives members: an existing one, or one that this change creates. */
type TargetDirectory = { state: RuleState } & (
  | { node: LayeredNode; id?: undefined }
  | { node?: undefined; id: number }
);

/** A new entry of an existing directory. */
interface NewName {
  dir: LayeredNode;
  name: ByteString;
  type: number;
  old: LayeredNode | undefined;
}

/** Throws what `unpack` would throw for `path` itself, as far as it is known now; changes nothing visible. */
export function beginUnpack(request: FileRequest, path: ByteString): number {
  const spot = resolveWithoutMaking(request, path);
  if (spot?.node !== undefined && !spot.node.isDirectory) throw ENOTDIR;
  if (spot?.dir !== undefined && spot.node === undefined)
    requireAbsent(request.workspace, request.access, spot.dir, spot.name);
  return request.workspace.unpackings.begin(new Unpacking(requireLayered(request.workspace)));
}

/** See `Unpacking.add`. */
export function addMembers(
  { workspace }: FileRequest,
  handle: number,
  members: readonly ArchiveMember[],
  data: Uint8Array,
): Steps<void> {
  return workspace.unpackings.get(handle).add(members, data);
}

/** See `Unpacking.drop`. */
export function* dropUnpack({ workspace }: FileRequest, handle: number): Steps<void> {
  const unpacking = workspace.unpackings.end(handle);
  if (unpacking !== undefined) yield* unpacking.drop();
}

/**
 * Creates all members below `path` in one journal record, so that a crash leaves all or none. Symlinks below `path` are
 * not followed. Throws ServiceErrors that name the member's path. The caller holds the workspace.
 */
export function* unpack(request: FileRequest, handle: number, path: ByteString): Steps<UnpackedCounts> {
  const workspace = requireLayered(request.workspace);
  const collected = workspace.unpackings.get(handle);
  const members = yield* collected.inOrder();
  const counts = yield* collected.counts();
  const made = (dir: Node, name: ByteString) => makeOne(request, dir, name, DIRECTORY_MODE);
  const top = request.walk(path, true, made);
  const node = top.node ?? made(top.dir!, top.name);
  if (!node.isDirectory) throw ENOTDIR;
  const counter = new StepCounter(ITEMS_PER_STEP);
  const names = new MemberNames(request, workspace, path, node as LayeredNode);
  yield* Change.making(workspace, function* (change) {
    for (const [at, member] of members) {
      if (counter.count()) yield;
      try {
        yield* names.looking(at);
        names.add(change, at, member);
      } catch (error) {
        throw toServiceError(error, joinPath(path, at));
      }
    }
    for (const dir of names.changed()) change.touch(dir);
  });
  // First, so that a failure of the rest does not drop the contents of files that have names.
  workspace.unpackings.end(handle);
  yield* collected.adopt();
  yield* names.finishing();
  return counts;
}

class MemberNames {
  readonly #request: FileRequest;
  readonly #workspace: LayeredWorkspace;
  readonly #top: ByteString;
  readonly #directories = new Map<ByteString, TargetDirectory>();
  readonly #newNames: NewName[] = [];

  constructor(request: FileRequest, workspace: LayeredWorkspace, top: ByteString, node: LayeredNode) {
    this.#request = request;
    this.#workspace = workspace;
    this.#top = top;
    this.#directories.set(ROOT_PATH, { state: request.access.rule(node), node });
  }

  /** Adds a member. Each path comes once; its parents may come before it or not at all. */
  add(change: Change, path: ByteString, member: Collected): void {
    if (member.type === 'directory') {
      this.#directory(change, path, member);
      return;
    }
    const into = this.#directory(change, parentOf(path), IMPLICIT);
    const name = baseNameOf(path);
    const old = this.#vacate(change, into, name);
    this.#requireShort(path);
    const { uid, gid } = this.#request.caller;
    if (member.type === 'file') member.id ??= this.#file(change, member);
    const id = member.type === 'file' ? member.id! : change.create(S_IFLNK | 0o777, uid, gid, member);
    const type = member.type === 'file' ? S_IFREG : S_IFLNK;
    if (!this.#request.isOwner && isTextAt(this.#stateOf(into, name), type)) stageText(this.#workspace, change, id);
    this.#link(change, into, name, id, type, old);
  }

  #stateOf(into: TargetDirectory, name: ByteString): RuleState {
    return into.node === undefined ? into.state.child(name) : this.#request.access.ruleOf(into.node, name);
  }

  /** Finds the form of the file that a member replaces, which takes time. */
  *looking(path: ByteString): Steps<void> {
    const { workspace, access } = this.#request;
    if (!workspace.rules.hasMerged || access.actor === 'owner') return;
    const dir = this.#directories.get(parentOf(path))?.node;
    const old = dir && this.#request.child(dir, baseNameOf(path));
    if (old !== undefined && isRedacted(access, old)) yield* findingForm(workspace, old);
  }

  #file(change: Change, { handle, body, mode, mtime }: CollectedFile): number {
    if (handle !== undefined) return (this.#workspace.handles.get(handle) as LayeredNode).inode!.id;
    return change.createFile(S_IFREG | mode, this.#request.caller, mtime, body!);
  }

  /** The existing directories that get new entries. */
  changed(): Set<LayeredNode> {
    return new Set(this.#newNames.map(({ dir }) => dir));
  }

  /** Updates nodes and listings. Called after the change was committed. */
  *finishing(): Steps<void> {
    const counter = new StepCounter(ITEMS_PER_STEP);
    for (const { dir, name, type, old } of this.#newNames) {
      if (old !== undefined) {
        this.#workspace.tree.unlink(this.#request.access, old, dir, name);
        invalidateInode(this.#request, old);
        dir.listing?.remove(name);
      }
      dir.listing?.add(name, type);
      invalidateName(this.#request, dir, name);
      this.#workspace.shared.teller.changed(this.#workspace, dir, name, old?.type, type);
      if (counter.count()) yield;
    }
  }

  #directory(change: Change, path: ByteString, as: NewDirectory): TargetDirectory {
    const known = this.#directories.get(path);
    if (known !== undefined) return known;
    let at = ROOT_PATH;
    let into = this.#directories.get(ROOT_PATH)!;
    for (const name of splitPath(path)) {
      at = joinPath(at, name);
      const next =
        this.#directories.get(at) ?? this.#openDirectory(change, into, name, at, at === path ? as : IMPLICIT);
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
    { mode, mtime }: NewDirectory,
  ): TargetDirectory {
    const request = this.#request;
    const node = into.node && this.#child(into.node, name);
    if (node?.type === S_IFLNK) {
      const where = quotePath(joinPath(this.#top, path));
      throw new ServiceError('FAILED_PRECONDITION', `${where} is a symbolic link, which is not followed`);
    }
    if (node !== undefined && !node.isDirectory) throw ENOTDIR;
    if (node !== undefined) return { state: request.access.rule(node), node };
    this.#vacate(change, into, name);
    this.#requireShort(path);
    const merges = into.node === undefined || mergesAt(this.#workspace, into.node, name);
    const id = change.create(S_IFDIR | mode, request.caller.uid, request.caller.gid, { merges, mtime });
    this.#link(change, into, name, id, S_IFDIR, undefined);
    return { state: into.state.child(name), id };
  }

  #child(dir: LayeredNode, name: ByteString): LayeredNode | undefined {
    return this.#request.child(dir, name) as LayeredNode | undefined;
  }

  /** Removes the existing file of a name and returns its node. Throws unless the name may be given to a member. */
  #vacate(change: Change, into: TargetDirectory, name: ByteString): LayeredNode | undefined {
    const request = this.#request;
    if (into.node === undefined) {
      if (!mayChangeName(into.state.child(name).level)) throw EACCES;
      return undefined;
    }
    const old = this.#child(into.node, name);
    if (old === undefined) {
      requireAbsent(request.workspace, request.access, into.node, name);
      request.require(into.node, MAY_WRITE | MAY_PASS);
      return undefined;
    }
    if (old.isDirectory) throw EISDIR;
    const state = this.#stateOf(into, name);
    if (!mayChangeName(request.access.level(old)) || !mayChangeName(state.level)) throw EACCES;
    requireReplaceable(request.workspace, request.access, state, old);
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
    old: LayeredNode | undefined,
  ): void {
    if (into.node === undefined) {
      change.linkIn(into.id, name, id);
      return;
    }
    change.link(into.node, name, id);
    this.#newNames.push({ dir: into.node, name, type: type & S_IFMT, old });
  }
}
