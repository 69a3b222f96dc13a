import { type ByteString, baseNameOf, joinPath, parentOf, ROOT_PATH } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { isDirectory, S_IFMT, S_IFREG } from '../../linux/mode.ts';
import { DividedList } from '../divided-list.ts';
import { removeUnusedDirectories } from '../history/unused-directories.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import type { LayeredNode } from '../nodes/layered-node.ts';
import { mergeNodes } from '../nodes/merge-nodes.ts';
import { PathMemo } from '../nodes/path-memo.ts';
import { nodesFrom } from '../nodes/walk-nodes.ts';
import { sameFile } from './base.ts';

/** Nodes examined in one step. */
const ITEMS_PER_STEP = 16;
/** Paths of a change at which the type is recorded. */
const MOST_TYPES = 512;

/**
 * Called before base paths change on disk: pins the host files of the nodes there, so that open files keep their
 * contents. `added`: what the workspace's own commit adds; undefined for any other change.
 */
export function* baseChanging(
  workspace: LayeredWorkspace,
  paths: readonly ByteString[],
  added: readonly ByteString[] | undefined,
): Steps<void> {
  if (!workspace.isOpen) return;
  const counter = new StepCounter(ITEMS_PER_STEP);
  workspace.base.withheld.isCommitting = added !== undefined;
  for (const path of added ?? []) {
    workspace.base.withheld.add(path);
    if (counter.count()) yield;
  }
  workspace.base.changingTypes = added === undefined ? new Map() : undefined;
  for (const path of paths) {
    for (const node of atBasePath(workspace, path)) yield* pin(workspace, node);
    recordType(workspace, path);
    yield;
  }
  yield* pinOrphans(workspace, new Set(paths));
}

function recordType({ tree, base }: LayeredWorkspace, path: ByteString): void {
  const { changingTypes } = base;
  if (changingTypes === undefined || changingTypes.size >= MOST_TYPES) return;
  for (const dir of tree.atBasePath(parentOf(path))) {
    if (dir.nlookup === 0 || dir.children?.has(baseNameOf(path))) continue;
    const stat = base.lstat(path);
    if (stat !== undefined) changingTypes.set(path, stat.mode);
    return;
  }
}

/** Pins the files without a name at or below base paths. Both may be thousands, so each orphan is examined once. */
function* pinOrphans(workspace: LayeredWorkspace, changing: ReadonlySet<ByteString>): Steps<void> {
  const within = new PathMemo(changing.has(ROOT_PATH), (above, _name, path) => above || changing.has(path));
  const counter = new StepCounter(ITEMS_PER_STEP);
  for (const loose of workspace.tree.orphans) {
    const path = loose.basePath;
    if (path !== undefined && (changing.has(path) || within.at(parentOf(path)))) yield* pin(workspace, loose);
    if (counter.count()) yield;
  }
}

export interface ChangedPaths {
  paths: readonly ByteString[];
  /** Directories above them that the change neither made nor removed. */
  kept: ReadonlySet<ByteString>;
}

/**
 * Called after base paths changed on disk, or failed to: detaches nodes of replaced files and invalidates what the
 * kernel caches. `wasFitted`: its records fitted to the base before the change.
 */
export function* baseChanged(
  workspace: LayeredWorkspace,
  { paths, kept }: ChangedPaths,
  wasFitted: boolean,
): Steps<void> {
  if (!workspace.isOpen) return;
  const { shared, spec } = workspace;
  // Records that a full disk or an error left are examined at the next opening.
  if (wasFitted) workspace.fittedTo = shared.bases.stateOf(spec.codebaseId);
  try {
    // Beside its own commit, a directory with the former mode of the base may be one whose mode was changed back since.
    if (!workspace.base.withheld.isCommitting) yield* removeUnusedDirectories(workspace, paths, 'base gone');
  } catch (error) {
    workspace.fittedTo = undefined;
    throw error;
  }
  const refresh = new Refresh(workspace);
  const looked = new Set<ByteString>();
  for (const path of paths) {
    // A new file may come with new directories, so the other components of the path are examined, the topmost first.
    const way: ByteString[] = [];
    for (let at = path; at !== '' && !looked.has(at); at = parentOf(at)) if (!kept.has(at)) way.push(at);
    for (const each of way.reverse()) {
      looked.add(each);
      for (const above of workspace.tree.atBasePath(parentOf(each))) yield* refresh.name(above, baseNameOf(each), true);
    }
    for (const dir of workspace.tree.atBasePath(path)) yield* refresh.directory(dir);
    yield;
  }
}

/** The nodes that show a base path unchanged. */
function* atBasePath({ tree }: LayeredWorkspace, path: ByteString): Generator<LayeredNode> {
  yield* tree.atBasePath(path);
  const name = baseNameOf(path);
  for (const parent of tree.atBasePath(parentOf(path))) {
    const node = parent.children?.get(name);
    if (node !== undefined && node.inode === undefined && !node.isDirectory) yield node;
  }
}

function* pin(workspace: LayeredWorkspace, top: LayeredNode): Steps<void> {
  for (const node of nodesFrom(top)) {
    pinFile(workspace, node);
    yield;
  }
}

function pinFile(workspace: LayeredWorkspace, node: LayeredNode): void {
  if (node.type !== S_IFREG || node.inode !== undefined || node.base === undefined) return;
  const { base, shared } = workspace;
  try {
    shared.files.pin(node, () => base.open(node.requireBasePath(), node.requireBase()));
  } catch {
    // The path has another file already: reads fail with ESTALE and never mix old and new contents.
  }
}

/** Detaches all nodes below a removed directory. */
function* detachBelow(workspace: LayeredWorkspace, dir: LayeredNode): Steps<void> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const below = new DividedList<LayeredNode>();
  for (const node of nodesFrom(dir)) {
    below.push(node);
    if (counter.count()) yield;
  }
  for (let node = below.pop(); node !== undefined; node = below.pop()) {
    if (node === dir) continue;
    for (const { parent, name } of [...node.links]) {
      workspace.shared.notifier.invalEntry(parent.id, name);
      workspace.tree.detach(node, parent, name);
    }
    if (counter.count()) yield;
  }
}

/** All names of a directory of which the kernel may hold a dentry, positive or negative. */
function* namesBelow(workspace: LayeredWorkspace, dir: LayeredNode): Steps<Set<ByteString>> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const names = new Set<ByteString>();
  for (const known of [dir.children?.keys(), dir.listing?.names()]) {
    for (const name of known ?? []) {
      names.add(name);
      if (counter.count()) yield;
    }
  }
  for (const { name } of yield* workspace.base.reading(dir.requireBasePath())) {
    if (counter.count()) yield;
    // Negative dentries of new names must be invalidated.
    if (dir.listing?.get(name) === undefined) names.add(name);
  }
  return names;
}

/**
 * Refreshes names after a set of changes. Many of them can lie in one directory or below each other; each name is
 * examined once.
 */
class Refresh {
  readonly #workspace: LayeredWorkspace;
  readonly #names = new Map<LayeredNode, Set<ByteString>>();
  readonly #directories = new Set<LayeredNode>();

  constructor(workspace: LayeredWorkspace) {
    this.#workspace = workspace;
  }

  /** `isNamed`: the change names it, and not only a directory above it. */
  *name(dir: LayeredNode, name: ByteString, isNamed: boolean): Steps<void> {
    let names = this.#names.get(dir);
    if (names === undefined) {
      names = new Set();
      this.#names.set(dir, names);
      const base = this.#workspace.base.lstat(dir.requireBasePath());
      if (base !== undefined) this.#workspace.tree.binding.renewBase(dir, base);
    }
    if (names.has(name)) return;
    names.add(name);
    yield* refreshName(this.#workspace, dir, name, isNamed);
  }

  /** Refreshes a directory and everything below it. */
  *directory(top: LayeredNode): Steps<void> {
    const waiting = [top];
    for (let dir = waiting.pop(); dir !== undefined; dir = waiting.pop()) {
      if (this.#directories.has(dir)) continue;
      this.#directories.add(dir);
      for (const name of yield* namesBelow(this.#workspace, dir)) {
        yield* this.name(dir, name, false);
        yield;
        const child = dir.children?.get(name);
        if (child?.isDirectory && child.basePath !== undefined) waiting.push(child);
      }
    }
  }
}

function* refreshName(workspace: LayeredWorkspace, dir: LayeredNode, name: ByteString, isNamed: boolean): Steps<void> {
  if (dir.inode?.entries?.has(name)) {
    yield* mergeNodes(workspace, dir, [name]);
    return;
  }
  const { base, tree, shared } = workspace;
  const stat = base.lstat(joinPath(dir.requireBasePath(), name));
  const { changingTypes } = workspace.base;
  const before = dir.children?.get(name)?.type ?? changingTypes?.get(joinPath(dir.requireBasePath(), name));
  if (stat === undefined) dir.listing?.remove(name);
  else dir.listing?.add(name, stat.mode & S_IFMT);
  shared.notifier.invalInode(dir.id);
  const child = dir.children?.get(name);
  if (child === undefined) {
    shared.notifier.invalEntry(dir.id, name);
    if (isNamed && changingTypes) shared.teller.changed(workspace, dir, name, before, stat?.mode);
  } else if (stat !== undefined && child.isDirectory && isDirectory(stat.mode)) {
    tree.binding.renewBase(child, stat);
    shared.notifier.invalInode(child.id);
  } else if (stat !== undefined && child.base !== undefined && sameFile(stat, child.base)) {
    shared.files.unpin(child);
  } else {
    yield* detachBelow(workspace, child);
    tree.detach(child, dir, name);
    shared.notifier.invalEntry(dir.id, name);
    if (changingTypes) shared.teller.changed(workspace, dir, name, before, stat?.mode);
  }
}
