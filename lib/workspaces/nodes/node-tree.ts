import { type ByteString, joinNames, joinPath, parentOf, ROOT_PATH } from '../../byte-string.ts';
import { Counted, complete, type Steps } from '../../fuse/connection/steps.ts';
import type { Notifier } from '../../fuse/filesystem.ts';
import { ENAMETOOLONG, ESTALE } from '../../linux/errno.ts';
import { isDirectory, S_IFMT, S_IFREG } from '../../linux/mode.ts';
import { MAX_NAME_BYTES } from '../../path-limits.ts';
import { type Level, NONE, type RuleSet, type RuleState, strictest, WRITE } from '../../permissions/index.ts';
import { type Access, AGENT } from '../access/access.ts';
import { LinkLevels } from '../access/link-levels.ts';
import type { Base, BaseStat } from '../base/base.ts';
import type { ChangingPaths } from '../base/base-trees.ts';
import { mergedBase } from '../base/merged-base.ts';
import type { Delta } from '../delta/delta.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';
import { ROOT_ID } from '../delta/index/inode-table.ts';
import { type MemoryBudget, type MemoryHolder, NODE_BYTES } from '../memory-budget.ts';
import { BaseDirectories } from './base-directories.ts';
import type { HostFiles } from './host-files.ts';
import { cheapListing } from './merged-listing.ts';
import type { Node, NodeOwner } from './node.ts';
import type { NodeTable } from './node-table.ts';

/**
 * Failed lookups in one directory (search paths, module resolution) after which its names are listed to answer from
 * memory.
 */
const MISSES_TO_LIST = 32;
/** Hard links of one file examined in one step. */
const LINKS_AT_ONCE = 64;
/** Smallest number of dentries that are evicted at once. */
const MIN_EVICTED = 64;

/** What a name resolves to, before it has a node. */
export interface Found {
  inode: Inode | undefined;
  base: BaseStat | undefined;
  /** Newly created: nothing of the base is shown at its path. */
  isNew?: boolean;
}

/** The part of a workspace that its nodes need. */
interface TreeOwner extends NodeOwner, MemoryHolder {
  readonly base: Base;
  readonly rules: RuleSet;
  readonly changing: ChangingPaths;
  readonly shared: {
    readonly nodes: NodeTable;
    readonly files: HostFiles;
    readonly memory: MemoryBudget;
    readonly notifier: Notifier;
  };
}

/** The nodes of one workspace and the resolution of names: delta over base, with one node for each file. */
export class NodeTree {
  readonly root: Node;
  readonly #workspace: TreeOwner;
  readonly #base: Base;
  readonly #delta: Delta;
  /** Orphans: nodes without links that are still open. */
  readonly orphans = new Set<Node>();
  /** By inode id. */
  readonly #byInode = new Map<number, Node>();
  /** Unchanged base files with several links, by `dev:ino:level`. Links of different levels are different nodes. */
  readonly #byBaseLink = new Map<string, Node>();
  /** The directories that show each base directory. */
  readonly #byBasePath = new BaseDirectories();
  #levels: LinkLevels;
  /** Where `#evictDentries` continues. */
  #evictionCursor: Generator<Node>;
  #untilEviction = 0;

  constructor(workspace: TreeOwner, base: Base, delta: Delta, root: Node) {
    this.#workspace = workspace;
    this.#base = base;
    this.#delta = delta;
    this.root = root;
    this.#evictionCursor = this.nodes();
    this.#levels = new LinkLevels(workspace.rules);
    root.agentRule = workspace.rules.root;
    root.agentLevel = root.agentRule.level;
    root.inode = delta.table.get(ROOT_ID);
    root.basePath = ROOT_PATH;
    const stat = base.lstat(ROOT_PATH);
    if (stat === undefined || !isDirectory(stat.mode)) throw ESTALE;
    root.base = stat;
    if (root.inode !== undefined) this.#byInode.set(root.inode.id, root);
    this.#byBasePath.add(ROOT_PATH, root);
  }

  /** Resolves a name, regardless of rules; `level` is that of its path. Returns undefined if it does not exist. */
  find(dir: Node, name: ByteString, level: Level): Found | undefined {
    const entry = dir.inode?.entries?.get(name);
    if (entry === WHITEOUT) return undefined;
    if (entry !== undefined) return { inode: entry, base: undefined };
    if (dir.basePath === undefined) return undefined;
    // The listing has every name of the base, so other names need no lookup on disk.
    const listing = dir.misses < MISSES_TO_LIST ? undefined : cheapListing(this.#workspace, dir);
    if (listing !== undefined && listing.get(name) === undefined) return undefined;
    const base = this.#base.lstat(joinPath(dir.basePath, name));
    if (base === undefined) {
      dir.misses++;
      return undefined;
    }
    // One of several links of a base file that was copied up through another link.
    const many = base.nlink > 1 && level === WRITE && !isDirectory(base.mode);
    return { inode: many ? this.#delta.table.alias(base.dev, base.ino) : undefined, base };
  }

  /**
   * Returns the node of a name, hidden ones included, or undefined if it does not exist. `state`: the rules of the name
   * by this access. Throws ENAMETOOLONG.
   */
  child(access: Access, dir: Node, name: ByteString, state: RuleState): Node | undefined {
    const known = dir.children?.get(name);
    if (known !== undefined) return known;
    if (name.length > MAX_NAME_BYTES) throw ENAMETOOLONG;
    // Nothing is visible here in any case. Skipping the disk prevents a timing side channel.
    if (state.level === NONE && !state.visibleBelow) return undefined;
    const agentRule = agentRuleOf(access, dir, name, state);
    const found = this.find(dir, name, agentRule.level);
    return found === undefined ? undefined : this.adopt(AGENT, dir, name, agentRule, found);
  }

  /**
   * Gives a name to the node of what was found: a new node, or the existing one of another link. Throws EDQUOT beyond
   * the memory limit.
   */
  adopt(access: Access, dir: Node, name: ByteString, acting: RuleState, found: Found): Node {
    const { inode, base } = found;
    const state = agentRuleOf(access, dir, name, acting);
    const key = inode === undefined && base !== undefined ? linkKey(base, state.level) : undefined;
    let node =
      inode !== undefined ? this.#byInode.get(inode.id) : key !== undefined ? this.#byBaseLink.get(key) : undefined;
    if (node !== undefined) {
      this.orphans.delete(node);
      node.addLink(dir, name);
      // The other links were examined when they were added: a file may have tens of thousands.
      const known = node.links.length > 1 ? (node.agentLevel as Level) : this.fileLevel(node, state.level);
      if (!node.isDirectory) node.agentLevel = strictest(known, state.level);
      return node;
    }
    this.#evictDentries();
    node = this.#workspace.shared.nodes.add(this.#workspace, (inode ?? base!).mode);
    node.addLink(dir, name);
    this.#bind(node, dir, name, state, found);
    return node;
  }

  /**
   * The kernel caches dentries as long as the host has memory. A workspace with too many nodes makes it drop the
   * dentries of the oldest files. Throws EDQUOT if the kernel does not drop enough, because the files are open.
   */
  #evictDentries(): void {
    const { memory, notifier } = this.#workspace.shared;
    if (!memory.isOver(this.#workspace, NODE_BYTES, false)) return;
    const count = Math.max(MIN_EVICTED, Math.floor(this.#workspace.knownNodes / 8));
    if (--this.#untilEviction > 0) {
      memory.claim(this.#workspace, NODE_BYTES, true);
      return;
    }
    this.#untilEviction = Math.floor(count / 2);
    for (let told = 0, looked = 0; told < count && looked < 4 * count; looked++) {
      const { done, value: node } = this.#evictionCursor.next();
      if (done) {
        this.#evictionCursor = this.nodes();
        break;
      }
      const link = node.links[0];
      if (node.isDirectory || node.nlookup === 0 || link === undefined) continue;
      notifier.dropEntry(link.parent.id, link.name);
      told++;
    }
    memory.claim(this.#workspace, NODE_BYTES, true);
  }

  #bind(node: Node, dir: Node, name: ByteString, state: RuleState, { inode, base, isNew }: Found): void {
    const key = inode === undefined && base !== undefined ? linkKey(base, state.level) : undefined;
    node.inode = inode;
    if (inode !== undefined) {
      this.#byInode.set(inode.id, node);
      node.basePath = isNew ? inode.origin : mergedBase(this.#base, inode, dir.basePath, name);
      if (node.basePath !== undefined) node.base = this.#base.lstat(node.basePath);
    } else {
      node.base = base;
      node.basePath = joinPath(dir.basePath!, name);
      if (key !== undefined) this.#byBaseLink.set(key, node);
    }
    if (node.isDirectory && node.basePath !== undefined) this.#byBasePath.add(node.basePath, node);
    if (node.isDirectory) this.applyRule(node, dir.baseRule === undefined ? state : dir.agentRule!.child(name));
    else node.agentLevel = this.fileLevel(node, state.level);
    if (this.#workspace.changing.size > 0) this.#pinIfChanging(node);
  }

  /** Called after the delta was replaced: all nodes are unbound, and only the root is bound again. */
  reset(): void {
    for (const known of [this.#byInode, this.#byBaseLink, this.#byBasePath]) known.clear();
    const { root } = this;
    root.inode = this.#delta.table.get(ROOT_ID);
    root.listing = undefined;
    root.misses = 0;
    if (root.inode !== undefined) this.#byInode.set(root.inode.id, root);
    this.#byBasePath.add(ROOT_PATH, root);
  }

  /**
   * Binds a node to what its name resolves to since `reset`. Returns false if that is impossible: it has another type
   * or other links.
   */
  rebind(node: Node, dir: Node, name: ByteString, shown: Set<Node>): boolean {
    const state = dir.agentRuleOf(name);
    const found = this.find(dir, name, state.level);
    if (found === undefined || ((found.inode ?? found.base!).mode & S_IFMT) !== node.type) return false;
    const { inode, base } = found;
    const key = inode === undefined && base !== undefined ? linkKey(base, state.level) : undefined;
    const other =
      inode !== undefined ? this.#byInode.get(inode.id) : key !== undefined ? this.#byBaseLink.get(key) : undefined;
    if (other !== undefined || shown.has(node)) return other === node;
    shown.add(node);
    this.#workspace.shared.files.close(node);
    node.base = undefined;
    node.basePath = undefined;
    node.listing = undefined;
    node.misses = 0;
    this.#bind(node, dir, name, state, found);
    return true;
  }

  /** Removes a node that resolves to nothing: processes that have it open get ESTALE. */
  expire(node: Node): void {
    this.#workspace.shared.nodes.delete(node);
    this.#workspace.shared.files.close(node);
    this.orphans.delete(node);
  }

  /** Creates a node for an unlinked file. */
  addUnlinked(inode: Inode): Node {
    const node = this.#workspace.shared.nodes.add(this.#workspace, inode.mode);
    node.inode = inode;
    node.agentLevel = WRITE;
    this.#byInode.set(inode.id, node);
    return node;
  }

  /** The directory nodes that show a base path. */
  atBasePath(path: ByteString): Iterable<Node> {
    return this.#byBasePath.at(path);
  }

  /** Binds a node to its inode after its copy-up. */
  copiedUp(node: Node, inode: Inode): void {
    if (!node.isDirectory) {
      const key = node.base && linkKey(node.base, node.agentLevel as Level);
      if (key !== undefined && this.#byBaseLink.get(key) === node) this.#byBaseLink.delete(key);
      this.#workspace.shared.files.close(node);
      node.base = undefined;
      node.basePath = undefined;
    }
    node.inode = inode;
    this.#byInode.set(inode.id, node);
    if (node.isDirectory) node.agentLevel = node.agentRule!.level;
  }

  /** Binds a node to the base again, at `path`: the delta no longer has an inode for it. */
  revertToBase(node: Node, path: ByteString, base: BaseStat): void {
    this.#forgetBase(node);
    if (node.inode !== undefined && this.#byInode.get(node.inode.id) === node) this.#byInode.delete(node.inode.id);
    this.#workspace.shared.files.close(node);
    node.inode = undefined;
    node.base = base;
    node.basePath = path;
    if (!node.isDirectory) return;
    this.#byBasePath.add(path, node);
    this.applyRule(node, node.agentRule!);
  }

  /** Merges a changed directory with the base directory at `path`. */
  mergeWith(node: Node, path: ByteString, base: BaseStat): void {
    this.#forgetBase(node);
    node.base = base;
    node.basePath = path;
    this.#byBasePath.add(path, node);
    this.applyRule(node, node.agentRule!);
  }

  /** Gives a changed directory another origin. */
  changeOrigin(node: Node, origin: ByteString): void {
    if (node.basePath === origin) return;
    if (node.basePath !== undefined) this.#byBasePath.remove(node.basePath, node);
    node.basePath = origin;
    this.#byBasePath.add(origin, node);
    this.applyRule(node, node.agentRule!);
  }

  /** Makes a changed directory show nothing of the base. */
  unmerge(node: Node): void {
    this.#forgetBase(node);
    node.base = undefined;
    node.basePath = undefined;
    node.baseRule = undefined;
    node.listing = undefined;
  }

  /** Returns the node of an inode, if it has one. */
  nodeOf(inode: Inode): Node | undefined {
    return this.#byInode.get(inode.id);
  }

  /** Whether an inode has a node. */
  hasNode(inode: Inode): boolean {
    return this.#byInode.has(inode.id);
  }

  /**
   * Removes a link of a node after its removal from the delta. A node without links stays as an orphan while it is
   * open.
   */
  unlink(access: Access, node: Node, dir: Node, name: ByteString): void {
    node.removeLink(dir, name);
    if (access.actor === 'owner' && (node.inode?.names ?? 0) > 0) this.#resetLevel(node);
    if (node.links.length > 0) return;
    if (node.inode?.names === 0) this.#delta.unlinked(node.inode);
    if (node.nlookup > 0 || node.children?.size) this.orphans.add(node);
    else this.free(node);
  }

  /** Replaces one link of a node by another, after a rename. */
  move(access: Access, node: Node, dir: Node, name: ByteString, newDir: Node, newName: ByteString): void {
    node.removeLink(dir, name);
    node.addLink(newDir, newName);
    // A move by the owner may change the rules; see `applyRulesToMoved`.
    if (node.isDirectory && access.actor === 'agent') {
      this.#setDirectoryRule(node, newDir.agentRule!.child(newName));
    }
  }

  /** Exchanges links of two nodes, after a rename with RENAME_EXCHANGE. */
  exchange(access: Access, a: Node, aDir: Node, aName: ByteString, b: Node, bDir: Node, bName: ByteString): void {
    b.removeLink(bDir, bName);
    this.move(access, a, aDir, aName, bDir, bName);
    b.addLink(aDir, aName);
    if (b.isDirectory) this.#setDirectoryRule(b, aDir.agentRule!.child(aName));
  }

  /** Removes a link because the base has another file, or none, at its path. An open node stays as an orphan. */
  detach(node: Node, dir: Node, name: ByteString): void {
    if (node.links.length === 1) this.#forgetBase(node);
    this.unlink(AGENT, node, dir, name);
  }

  #forgetBase(node: Node): void {
    const key = node.base && linkKey(node.base, node.agentLevel as Level);
    if (key !== undefined && this.#byBaseLink.get(key) === node) this.#byBaseLink.delete(key);
    if (node.isDirectory && node.basePath !== undefined) this.#byBasePath.remove(node.basePath, node);
  }

  /** Subtracts from the node's lookup count and frees the node at 0. */
  forget(node: Node, nlookup: number): void {
    node.nlookup = Math.max(0, node.nlookup - nlookup);
    this.free(node);
  }

  /** Frees a node without lookups and children, and then its parents for which the same holds. */
  free(node: Node): void {
    const candidates = [node];
    for (let at = candidates.pop(); at !== undefined; at = candidates.pop()) {
      if (at.nlookup > 0 || (at.children?.size ?? 0) > 0 || at === this.root) continue;
      candidates.push(...this.#remove(at));
    }
  }

  /** Removes a node and returns its former parents. */
  #remove(node: Node): Node[] {
    this.#workspace.shared.nodes.delete(node);
    this.#workspace.shared.files.close(node);
    this.#forgetBase(node);
    this.orphans.delete(node);
    const { inode } = node;
    const links = [...node.links];
    for (const { parent, name } of links) node.removeLink(parent, name);
    if (inode !== undefined && this.#byInode.get(inode.id) === node) {
      this.#byInode.delete(inode.id);
      if (inode.names === 0) this.#delta.release(inode);
    }
    return links.map((link) => link.parent);
  }

  /** All nodes of the workspace, parents first. The tree can be deeper than the stack, so there is no recursion. */
  *nodes(): Generator<Node> {
    yield* nodesFrom(this.root);
    for (const node of this.orphans) yield* nodesFrom(node);
  }

  /** Releases the contents of unlinked files that are kept only because they are open. */
  releaseOrphans(): void {
    for (const { inode } of this.orphans) if (inode !== undefined && inode.names === 0) this.#delta.release(inode);
  }

  /** Returns the path of a node by one of its links, or by its last link. */
  pathOf(node: Node): ByteString {
    const names: ByteString[] = [];
    let at = node;
    while (at !== this.root) {
      const link = at.links[0] ?? at.lastLink!;
      names.push(link.name);
      at = link.parent;
    }
    return joinNames(names.reverse());
  }

  /** Drops the cached levels of files with several links. */
  resetLinkLevels(): void {
    this.#levels = new LinkLevels(this.#workspace.rules);
  }

  /** Sets the level of a file under new rules. */
  setLevel(node: Node, level: Level): void {
    const key = node.base && linkKey(node.base, node.agentLevel as Level);
    const keyed = key !== undefined && this.#byBaseLink.get(key) === node;
    if (keyed) this.#byBaseLink.delete(key);
    node.agentLevel = level;
    if (keyed) this.#byBaseLink.set(linkKey(node.base!, level)!, node);
  }

  /**
   * Applies the rules of its new path to a moved directory and to all known directories below. Files keep their level:
   * everything that moves is WRITE before and after.
   */
  #setDirectoryRule(top: Node, topState: RuleState): void {
    this.applyRule(top, topState);
    for (const dir of nodesFrom(top)) {
      for (const [name, child] of dir.children ?? []) {
        if (!child.isDirectory) continue;
        this.applyRule(child, dir.agentRule!.child(name));
      }
    }
  }

  /**
   * Sets the rules of a directory by its path and by the base directory that it shows. The rules of its parent must be
   * set before.
   */
  applyRule(dir: Node, byPath: RuleState): void {
    dir.agentRule = byPath;
    dir.baseRule = this.#baseRule(dir);
    const changed = dir.inode !== undefined || dir.baseRule === undefined;
    dir.agentLevel = changed ? byPath.level : strictest(byPath.level, dir.baseRule!.level);
  }

  /**
   * Returns the rules of the base directory if they differ from those of the path. Without a renamed parent they do
   * not, and this is cheap.
   */
  #baseRule(dir: Node): RuleState | undefined {
    const { basePath } = dir;
    const link = dir.links[0];
    if (basePath === undefined || dir === this.root) return undefined;
    const above = link?.parent;
    const follows =
      above?.basePath !== undefined && (dir.inode === undefined || basePath === joinPath(above.basePath, link!.name));
    if (follows && above.baseRule === undefined) return undefined;
    const state = follows ? above.baseRule!.child(link!.name) : this.#workspace.rules.state(basePath);
    return state === dir.agentRule ? undefined : state;
  }

  /** As `findFileLevel`, at once. */
  fileLevel(node: Node, ofPath: Level): Level {
    return complete(this.findFileLevel(node, ofPath));
  }

  /**
   * Returns the strictest level of a file's links. Adding and removing a link requires WRITE, so only new rules change
   * the result.
   */
  *findFileLevel(node: Node, ofPath: Level): Steps<Level> {
    const counted = new Counted(LINKS_AT_ONCE);
    let level = ofPath;
    for (const { parent, name } of node.links.length > 1 ? node.links : []) {
      level = strictest(level, parent.agentRuleOf(name).level);
      yield* counted.one();
    }
    const { inode } = node;
    return inode === undefined || inode.linkCount < 2 ? level : strictest(level, yield* this.#levels.find(inode));
  }

  /**
   * Updates the levels of all files with several links, after the owner moved a directory that contains some of them.
   */
  updateLinkLevels(): void {
    this.resetLinkLevels();
    for (const node of this.#byInode.values()) {
      if (!node.isDirectory && (node.inode?.linkCount ?? 0) > 1) this.#updateLevel(node);
    }
  }

  /** Updates the level of one file, after the owner removed a link that the rules protect from the sandbox. */
  #resetLevel(node: Node): void {
    this.resetLinkLevels();
    this.#updateLevel(node);
  }

  #updateLevel(node: Node): void {
    const link = node.links[0];
    if (link === undefined) return;
    const level = this.fileLevel(node, link.parent.agentRuleOf(link.name).level);
    if (level === node.agentLevel) return;
    this.setLevel(node, level);
    this.#workspace.shared.notifier.invalInode(node.id);
  }

  /**
   * Pins a base file that is looked up while its path is being replaced, so that processes that open it keep its
   * contents.
   */
  #pinIfChanging(node: Node): void {
    const { changing, shared } = this.#workspace;
    if (node.type !== S_IFREG || node.base === undefined || node.inode !== undefined) return;
    for (let path = node.basePath!; ; path = parentOf(path)) {
      if (changing.has(path)) {
        const { base } = node;
        shared.files.pin(node, () => this.#base.open(node.basePath!, base));
        return;
      }
      if (!path.includes('/')) return;
    }
  }
}

/** Returns the sandbox's rules for a name; `state` are the rules by this access. */
function agentRuleOf(access: Access, dir: Node, name: ByteString, state: RuleState): RuleState {
  return access.actor === 'agent' && dir.baseRule === undefined ? state : dir.agentRuleOf(name);
}

/** A node and all nodes below it, parents first. Nodes may be removed during the iteration. */
export function* nodesFrom(top: Node): Generator<Node> {
  const waiting = [top];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    yield node;
    for (const child of node.children?.values() ?? []) waiting.push(child);
  }
}

/** Key of a base file with several links; undefined for other files. */
function linkKey(base: BaseStat, level: Level): string | undefined {
  return base.nlink > 1 && !isDirectory(base.mode) ? `${base.dev}:${base.ino}:${level}` : undefined;
}
