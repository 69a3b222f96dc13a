import { isDirectory, S_IFMT } from '../../linux/mode.ts';
import { mergesAt } from '../base/merged-base.ts';
import { Change } from '../history/change.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import type { LayeredFound, LayeredNode } from '../nodes/layered-node.ts';
import { keysOf } from '../redacted/placeholder-keys.ts';
import type { FileAttributes, Made, NameIn, StoredNames } from './stored-files.ts';

type Name = NameIn<LayeredNode>;

/** The names of a workspace that is a delta over a base. */
export class LayeredNames implements StoredNames {
  readonly #workspace: LayeredWorkspace;

  constructor(workspace: LayeredWorkspace) {
    this.#workspace = workspace;
  }

  create({ dir, name }: Name, made: Made, asText: boolean): LayeredFound {
    const workspace = this.#workspace;
    const merges = isDirectory(made.mode) && mergesAt(workspace, dir, name);
    const id = Change.make(workspace, (change) => {
      const created = change.create(made.mode, made.uid, made.gid, { ...made, merges });
      if (asText) stageText(workspace, change, created);
      change.link(dir, name, created);
      change.touch(dir);
      return created;
    });
    dir.listing?.add(name, made.mode & S_IFMT);
    return { inode: workspace.delta.table.require(id), base: undefined, isNew: true };
  }

  createUnlinked({ mode, uid, gid }: Made): LayeredFound {
    const id = Change.make(this.#workspace, (change) => change.create(mode, uid, gid, {}));
    return { inode: this.#workspace.delta.table.require(id), base: undefined, isNew: true };
  }

  link(node: LayeredNode, { dir, name }: Name, asText: boolean): void {
    Change.make(this.#workspace, (change) => {
      const id = change.node(node);
      if (asText) stageText(this.#workspace, change, id);
      change.link(dir, name, id);
      change.ctime(id);
      change.touch(dir);
    });
    dir.listing?.add(name, node.type);
  }

  remove(node: LayeredNode, { dir, name }: Name): void {
    const stage = (change: Change) => {
      stageLoss(change, node);
      change.unlink(dir, name);
      change.touch(dir);
    };
    Change.make(this.#workspace, stage, true);
    dir.listing?.remove(name);
  }

  move(node: LayeredNode, from: Name, to: Name, replaced: LayeredNode | undefined, asText: boolean): void {
    this.#requireStays(node);
    const isAlone = Change.make(this.#workspace, (change) => {
      const id = change.node(node);
      if (asText) stageText(this.#workspace, change, id);
      if (replaced !== undefined) {
        stageLoss(change, replaced);
        change.unlink(to.dir, to.name);
      }
      const alone = change.moveDirectory(node, to.dir, to.name);
      change.unlink(from.dir, from.name);
      change.link(to.dir, to.name, id);
      change.ctime(id);
      touchBoth(change, from, to);
      return alone;
    });
    if (isAlone) this.#workspace.tree.binding.unmerge(node);
    from.dir.listing?.remove(from.name);
    to.dir.listing?.remove(to.name);
    to.dir.listing?.add(to.name, node.type);
  }

  exchange(a: LayeredNode, at: Name, b: LayeredNode, bAt: Name, asText: { a: boolean; b: boolean }): void {
    this.#requireStays(a);
    this.#requireStays(b);
    const [aAlone, bAlone] = Change.make(this.#workspace, (change) => {
      const [aId, bId] = [change.node(a), change.node(b)];
      if (asText.a) stageText(this.#workspace, change, aId);
      if (asText.b) stageText(this.#workspace, change, bId);
      const alone = [change.moveDirectory(a, bAt.dir, bAt.name), change.moveDirectory(b, at.dir, at.name)] as const;
      change.unlink(at.dir, at.name);
      change.unlink(bAt.dir, bAt.name);
      change.link(at.dir, at.name, bId);
      change.link(bAt.dir, bAt.name, aId);
      change.ctime(aId);
      change.ctime(bId);
      touchBoth(change, at, bAt);
      return alone;
    });
    const { binding } = this.#workspace.tree;
    if (aAlone) binding.unmerge(a);
    if (bAlone) binding.unmerge(b);
    at.dir.listing?.add(at.name, b.type);
    bAt.dir.listing?.add(bAt.name, a.type);
  }

  place(
    node: LayeredNode,
    { dir, name }: Name,
    replaced: LayeredNode | undefined,
    mode: number,
    asText: boolean,
  ): void {
    const { id, uid, gid, atime, mtime } = node.inode!;
    Change.make(this.#workspace, (change) => {
      if (replaced !== undefined) {
        stageLoss(change, replaced);
        change.unlink(dir, name);
      }
      change.link(dir, name, id);
      if (asText) stageText(this.#workspace, change, id);
      change.attr(node, { mode, uid, gid, atime, mtime, ctime: change.now });
      change.touch(dir);
    });
    dir.listing?.add(name, node.type);
  }

  setAttributes(node: LayeredNode, to: FileAttributes, makesRoom: boolean): void {
    Change.make(this.#workspace, (change) => change.attr(node, to), makesRoom);
  }

  /** Throws Postponed while a change of the codebase removes files that the directory would still show at its new path. */
  #requireStays({ isDirectory, basePath, inode }: LayeredNode): void {
    if (!isDirectory || basePath === undefined || inode?.origin !== undefined) return;
    const { spec, shared } = this.#workspace;
    shared.bases.leavingOf(spec.codebaseId).requireStays(basePath, spec.id);
    this.#workspace.hasMovedOfBase = true;
  }
}

function touchBoth(change: Change, a: Name, b: Name): void {
  change.touch(a.dir);
  if (b.dir !== a.dir) change.touch(b.dir);
}

/**
 * Stages what the removal of one link does to the node itself: the new ctime, and the copy-up of a base file with other
 * links.
 */
export function stageLoss(change: Change, node: LayeredNode): void {
  if (node.isDirectory) return;
  if (node.inode === undefined) {
    // The other links must show one link less, so the file is copied up.
    if (node.requireBase().nlink > 1) change.ctime(change.node(node));
  } else if (node.inode.names > 1 || node.nlookup > 0) change.ctime(node.inode.id);
}

/** Stages that a file is the agent's text (`Inode.isAgentText`). */
export function stageText(workspace: LayeredWorkspace, change: Change, id: number): void {
  const { key } = keysOf(workspace);
  const { placeholderKeys } = workspace.delta.table;
  change.text(id, placeholderKeys.includes(key) ? [] : [key]);
}
