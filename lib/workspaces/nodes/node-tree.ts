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

/** Names asked for in vain in one directory (search paths, module resolution) before it is listed to know all. */
const MISSES_TO_LIST = 32;
/** Names of one file that are looked at in one step. */
const LINKS_AT_ONCE = 64;
/** Names that the kernel is told to forget at once, at least. */
const MIN_EVICTED = 64;

/** What a name stands for, before there is a node for it. */
export interface Found {
  inode: Inode | undefined;
  base: BaseStat | undefined;
  /** Made just now: the base has nothing by its name that is shown. */
  isNew?: boolean;
}

/** What the nodes of a workspace need of it. */
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

/** The nodes of one workspace and how names lead to them: delta before base, and one node for one file. */
export class NodeTree {
  readonly root: Node;
  readonly #workspace: TreeOwner;
  readonly #base: Base;
  readonly #delta: Delta;
  /** Nodes without a name, open somewhere. */
  readonly orphans = new Set<Node>();
  /** By id. */
  readonly #byInode = new Map<number, Node>();
  /** Unchanged base files with several names: `dev:ino:level`. Names of different levels are different nodes. */
  readonly #byBaseLink = new Map<string, Node>();
  /** Directories that show a base directory. */
  readonly #byBasePath = new BaseDirectories();
  #levels: LinkLevels;
  /** Where `#makeRoom` goes on. */
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

  /** What `name` stands for, whatever the rules say; `level` is that of its path. */
  find(dir: Node, name: ByteString, level: Level): Found | undefined {
    const entry = dir.inode?.entries?.get(name);
    if (entry === WHITEOUT) return undefined;
    if (entry !== undefined) return { inode: entry, base: undefined };
    if (dir.basePath === undefined) return undefined;
    // The listing has every name of the base: what is not in it is not looked for on the disk.
    const listing = dir.misses < MISSES_TO_LIST ? undefined : cheapListing(this.#workspace, dir);
    if (listing !== undefined && listing.get(name) === undefined) return undefined;
    const base = this.#base.lstat(joinPath(dir.basePath, name));
    if (base === undefined) {
      dir.misses++;
      return undefined;
    }
    // One of several names of a base file that was changed by another name.
    const many = base.nlink > 1 && level === WRITE && !isDirectory(base.mode);
    return { inode: many ? this.#delta.table.alias(base.dev, base.ino) : undefined, base };
  }

  /** The node of a name, hidden ones too. `state`: the rule of the name by this access. */
  child(access: Access, dir: Node, name: ByteString, state: RuleState): Node | undefined {
    const known = dir.children?.get(name);
    if (known !== undefined) return known;
    if (name.length > MAX_NAME_BYTES) throw ENAMETOOLONG;
    // Nothing can be seen here whatever there is: ask no disk, so that no time is taken that tells.
    if (state.level === NONE && !state.visibleBelow) return undefined;
    const agentRule = agentRuleOf(access, dir, name, state);
    const found = this.find(dir, name, agentRule.level);
    return found === undefined ? undefined : this.adopt(AGENT, dir, name, agentRule, found);
  }

  /** The node for what was found, new or known by another name; it has the name from now on. */
  adopt(access: Access, dir: Node, name: ByteString, acting: RuleState, found: Found): Node {
    const { inode, base } = found;
    const state = agentRuleOf(access, dir, name, acting);
    const key = inode === undefined && base !== undefined ? linkKey(base, state.level) : undefined;
    let node =
      inode !== undefined ? this.#byInode.get(inode.id) : key !== undefined ? this.#byBaseLink.get(key) : undefined;
    if (node !== undefined) {
      this.orphans.delete(node);
      node.addLink(dir, name);
      // Its other names were looked at when they came: a file may have tens of thousands.
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
   * The kernel keeps what it once looked up for as long as the machine has memory. A workspace that has more nodes than it
   * may has it forget the files that were looked at first; EDQUOT when it does not, because they are open.
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

  /** After the delta became another one: no node is known by what it showed. The root is shown anew. */
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
   * Has a node, known by the name, show what was found there since `restart`. False: it cannot, being of another kind
   * or of other names.
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

  /** A node that shows nothing any more: whoever has it open gets ESTALE. */
  expire(node: Node): void {
    this.#workspace.shared.nodes.delete(node);
    this.#workspace.shared.files.close(node);
    this.orphans.delete(node);
  }

  /** A node for a file that no name leads to. */
  addUnlinked(inode: Inode): Node {
    const node = this.#workspace.shared.nodes.add(this.#workspace, inode.mode);
    node.inode = inode;
    node.agentLevel = WRITE;
    this.#byInode.set(inode.id, node);
    return node;
  }

  /** The directory nodes, of those that the kernel knows, that show a base directory. */
  atBasePath(path: ByteString): Iterable<Node> {
    return this.#byBasePath.at(path);
  }

  /** The node's file is in the delta from now on. */
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

  /** The node shows the base again, at `path`: the delta has nothing of it any more. */
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

  /** A changed directory's node is merged with the base at `path` from now on. */
  mergeWith(node: Node, path: ByteString, base: BaseStat): void {
    this.#forgetBase(node);
    node.base = base;
    node.basePath = path;
    this.#byBasePath.add(path, node);
    this.applyRule(node, node.agentRule!);
  }

  /** A changed directory's node shows another directory of the base from now on. */
  changeOrigin(node: Node, origin: ByteString): void {
    if (node.basePath === origin) return;
    if (node.basePath !== undefined) this.#byBasePath.remove(node.basePath, node);
    node.basePath = origin;
    this.#byBasePath.add(origin, node);
    this.applyRule(node, node.agentRule!);
  }

  /** A changed directory's node shows nothing of the base any more. */
  unmerge(node: Node): void {
    this.#forgetBase(node);
    node.base = undefined;
    node.basePath = undefined;
    node.baseRule = undefined;
    node.listing = undefined;
  }

  nodeOf(inode: Inode): Node | undefined {
    return this.#byInode.get(inode.id);
  }

  /** Whether a node stands for it. */
  hasNode(inode: Inode): boolean {
    return this.#byInode.has(inode.id);
  }

  /** The node lost a name. Without any it lives on, loose, for those who have it open. */
  unlink(access: Access, node: Node, dir: Node, name: ByteString): void {
    node.removeLink(dir, name);
    if (access.actor === 'owner' && (node.inode?.names ?? 0) > 0) this.#resetLevel(node);
    if (node.links.length > 0) return;
    if (node.inode?.names === 0) this.#delta.unnamed(node.inode);
    if (node.nlookup > 0 || node.children?.size) this.orphans.add(node);
    else this.free(node);
  }

  /** The node has another name for the one it had. */
  move(access: Access, node: Node, dir: Node, name: ByteString, newDir: Node, newName: ByteString): void {
    node.removeLink(dir, name);
    node.addLink(newDir, newName);
    // What its owner moves may come under other rules: `renewMoved`.
    if (node.isDirectory && access.actor === 'agent') {
      this.#setDirectoryRule(node, newDir.agentRule!.child(newName));
    }
  }

  /** Two nodes have each other's names. */
  exchange(access: Access, a: Node, aDir: Node, aName: ByteString, b: Node, bDir: Node, bName: ByteString): void {
    b.removeLink(bDir, bName);
    this.move(access, a, aDir, aName, bDir, bName);
    b.addLink(aDir, aName);
    if (b.isDirectory) this.#setDirectoryRule(b, aDir.agentRule!.child(aName));
  }

  /** The base has something else, or nothing, by this name: the node is only for those who have it open. */
  detach(node: Node, dir: Node, name: ByteString): void {
    if (node.links.length === 1) this.#forgetBase(node);
    this.unlink(AGENT, node, dir, name);
  }

  #forgetBase(node: Node): void {
    const key = node.base && linkKey(node.base, node.agentLevel as Level);
    if (key !== undefined && this.#byBaseLink.get(key) === node) this.#byBaseLink.delete(key);
    if (node.isDirectory && node.basePath !== undefined) this.#byBasePath.remove(node.basePath, node);
  }

  forget(node: Node, nlookup: number): void {
    node.nlookup = Math.max(0, node.nlookup - nlookup);
    this.free(node);
  }

  /** Takes away a node that nobody needs, and its parents if it was what they were kept for. */
  free(node: Node): void {
    const candidates = [node];
    for (let at = candidates.pop(); at !== undefined; at = candidates.pop()) {
      if (at.nlookup > 0 || (at.children?.size ?? 0) > 0 || at === this.root) continue;
      candidates.push(...this.#remove(at));
    }
  }

  /** Returns the parents it had. */
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

  /** Every node of the workspace, parents first. Trees can be deeper than any stack: nothing here calls itself. */
  *nodes(): Generator<Node> {
    yield* nodesFrom(this.root);
    for (const node of this.orphans) yield* nodesFrom(node);
  }

  /** Gives back what is only kept because it is open. */
  releaseOrphans(): void {
    for (const { inode } of this.orphans) if (inode !== undefined && inode.names === 0) this.#delta.release(inode);
  }

  /** The path by one of the node's names, or its last one. */
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

  /** The rules changed: levels of files are computed anew. */
  resetLinkLevels(): void {
    this.#levels = new LinkLevels(this.#workspace.rules);
  }

  /** A file's level under new rules. */
  setLevel(node: Node, level: Level): void {
    const key = node.base && linkKey(node.base, node.agentLevel as Level);
    const keyed = key !== undefined && this.#byBaseLink.get(key) === node;
    if (keyed) this.#byBaseLink.delete(key);
    node.agentLevel = level;
    if (keyed) this.#byBaseLink.set(linkKey(node.base!, level)!, node);
  }

  /**
   * The rules of a directory that moved and all known ones below. Files keep their level: everything that moves is WRITE
   * before and after.
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

  /** Gives a directory the rules of its path, and those of the base directory that it shows. Its parent has its own. */
  applyRule(dir: Node, byPath: RuleState): void {
    dir.agentRule = byPath;
    dir.baseRule = this.#baseRule(dir);
    const changed = dir.inode !== undefined || dir.baseRule === undefined;
    dir.agentLevel = changed ? byPath.level : strictest(byPath.level, dir.baseRule!.level);
  }

  /** Where nothing above was renamed this is the state that the path has, and costs nothing. */
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

  fileLevel(node: Node, ofPath: Level): Level {
    return complete(this.findFileLevel(node, ofPath));
  }

  /** The strictest of a file's names. Taking a name away or giving one needs WRITE, so only new rules change it. */
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

  /** Files with several names anew, after their owner moved a directory that some of them are in. */
  updateLinkLevels(): void {
    this.resetLinkLevels();
    for (const node of this.#byInode.values()) {
      if (!node.isDirectory && (node.inode?.linkCount ?? 0) > 1) this.#updateLevel(node);
    }
  }

  /** One of them, after its owner took away a name that the rules would have kept. */
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

  /** A base file found while the base is being changed: whoever opens it keeps what it is now. */
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

/** The sandbox's rule of a name, where `state` is the rule by this access. */
function agentRuleOf(access: Access, dir: Node, name: ByteString, state: RuleState): RuleState {
  return access.actor === 'agent' && dir.baseRule === undefined ? state : dir.agentRuleOf(name);
}

/** A node and all known ones below it, parents first. The tree may lose nodes while they are taken. */
export function* nodesFrom(top: Node): Generator<Node> {
  const waiting = [top];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    yield node;
    for (const child of node.children?.values() ?? []) waiting.push(child);
  }
}

/** Key of a base file with several names; undefined: it has one. */
function linkKey(base: BaseStat, level: Level): string | undefined {
  return base.nlink > 1 && !isDirectory(base.mode) ? `${base.dev}:${base.ino}:${level}` : undefined;
}
