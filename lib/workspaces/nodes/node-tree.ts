import { type ByteString, joinNames, ROOT_PATH } from '../../byte-string.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { ENAMETOOLONG, ESTALE } from '../../linux/errno.ts';
import { isDirectory, S_IFMT } from '../../linux/mode.ts';
import { MAX_NAME_BYTES } from '../../path-limits.ts';
import { type Level, NONE, type RuleState, strictest, WRITE } from '../../permissions/index.ts';
import { type Access, AGENT } from '../access/access.ts';
import type { Base } from '../base/base.ts';
import type { Delta } from '../delta/delta.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';
import { ROOT_ID } from '../delta/index/inode-table.ts';
import { DentryEviction, type EvictionOwner } from './dentry-eviction.ts';
import { applyRuleBelow } from './directory-rules.ts';
import { FileLevels } from './file-levels.ts';
import { InodeNumbers } from './inode-numbers.ts';
import { listingForMisses } from './merged-listing.ts';
import type { Found, Node, NodeOwner } from './node.ts';
import { type BindingOwner, NodeBinding } from './node-binding.ts';
import { NodeIndex } from './node-index.ts';
import { NodeSet } from './node-set.ts';
import type { NodeTable } from './node-table.ts';
import type { StatAhead } from './stat-ahead.ts';
import { nodesFrom } from './walk-nodes.ts';

/** The part of a workspace that its nodes need. */
interface TreeOwner extends NodeOwner, BindingOwner, EvictionOwner {
  readonly base: Base;
  readonly shared: BindingOwner['shared'] &
    EvictionOwner['shared'] & { readonly nodes: NodeTable; readonly ahead: StatAhead };
}

/** The nodes of one workspace and the resolution of names: delta over base, with one node for each file. */
export class NodeTree {
  readonly root: Node;
  readonly #workspace: TreeOwner;
  readonly #base: Base;
  readonly #delta: Delta;
  /** Orphans: nodes without links that are still open. */
  readonly orphans = new NodeSet();
  readonly levels: FileLevels;
  readonly numbers: InodeNumbers;
  /** What each node shows. */
  readonly binding: NodeBinding;
  readonly #index = new NodeIndex();
  readonly #eviction: DentryEviction;

  constructor(workspace: TreeOwner, base: Base, delta: Delta, root: Node) {
    this.#workspace = workspace;
    this.#base = base;
    this.#delta = delta;
    this.root = root;
    this.#eviction = new DentryEviction(workspace, () => this.nodes());
    this.levels = new FileLevels(workspace, this.#index);
    this.numbers = new InodeNumbers(() => delta.table);
    this.binding = new NodeBinding(workspace, base, this.#index, this.levels, this.numbers);
    root.agentRule = workspace.rules.root;
    root.agentLevel = root.agentRule.level;
    root.inode = delta.table.get(ROOT_ID);
    root.basePath = ROOT_PATH;
    const stat = base.lstat(ROOT_PATH);
    if (stat === undefined || !isDirectory(stat.mode)) throw ESTALE;
    root.base = stat;
    this.#index.addInode(root);
    this.#index.addBaseDirectory(root);
  }

  /** Resolves a name, regardless of rules; `level` is that of its path. Returns undefined if it does not exist. */
  find(dir: Node, name: ByteString, level: Level): Found | undefined {
    const entry = dir.inode?.entries?.get(name);
    if (entry === WHITEOUT) return undefined;
    if (entry !== undefined) return { inode: entry, base: undefined };
    if (dir.basePath === undefined) return undefined;
    // The listing has every name of the base, so other names need no lookup on disk.
    const listing = listingForMisses(this.#workspace, dir);
    if (listing !== undefined && listing.get(name) === undefined) return undefined;
    const ahead = this.#workspace.shared.ahead.take(dir, name);
    const base = ahead ?? this.#base.lstatIn(dir.basePath, name);
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
    let node = this.#index.find(found, state.level);
    if (node !== undefined) {
      this.orphans.delete(node);
      node.addLink(dir, name);
      // The other links were examined when they were added: a file may have tens of thousands.
      const known = node.links.length > 1 ? (node.agentLevel as Level) : this.levels.find(node, state.level);
      if (!node.isDirectory) node.agentLevel = strictest(known, state.level);
      return node;
    }
    this.#eviction.makeRoom();
    node = this.#workspace.shared.nodes.add(this.#workspace, (inode ?? base!).mode);
    node.addLink(dir, name);
    this.binding.bind(node, dir, name, state, found);
    return node;
  }

  /** Called after the delta was replaced: all nodes are unbound, and only the root is bound again. */
  reset(): void {
    this.#index.clear();
    const { root } = this;
    root.inode = this.#delta.table.get(ROOT_ID);
    root.outdateListing();
    root.misses = 0;
    this.#index.addInode(root);
    this.#index.addBaseDirectory(root);
  }

  /**
   * Binds a node to what its name resolves to since `reset`. Returns false if that is impossible: it has another type
   * or other links.
   */
  rebind(node: Node, dir: Node, name: ByteString, shown: NodeSet): boolean {
    const state = dir.agentRuleOf(name);
    const found = this.find(dir, name, state.level);
    if (found === undefined || ((found.inode ?? found.base!).mode & S_IFMT) !== node.type) return false;
    const other = this.#index.find(found, state.level);
    if (other !== undefined || shown.has(node)) return other === node;
    shown.add(node);
    this.#workspace.shared.files.close(node);
    this.numbers.keep(node);
    node.base = undefined;
    node.basePath = undefined;
    node.outdateListing();
    node.misses = 0;
    this.binding.bind(node, dir, name, state, found);
    this.numbers.settle(node);
    return true;
  }

  /** Removes a node that resolves to nothing: processes that have it open get ESTALE. */
  expire(node: Node): void {
    this.#workspace.shared.nodes.delete(node);
    this.#workspace.shared.files.close(node);
    this.numbers.release(node);
    this.orphans.delete(node);
  }

  /** Creates a node for an unlinked file. */
  addUnlinked({ inode }: Found): Node {
    const node = this.#workspace.shared.nodes.add(this.#workspace, inode!.mode);
    node.inode = inode;
    node.agentLevel = WRITE;
    this.#index.addInode(node);
    return node;
  }

  /** The directory nodes that show a base path. */
  atBasePath(path: ByteString): Iterable<Node> {
    return this.#index.atBasePath(path);
  }

  /** Returns the node of an inode, if it has one. */
  nodeOf(inode: Inode): Node | undefined {
    return this.#index.nodeOf(inode);
  }

  /** Whether an inode has a node. */
  hasNode(inode: Inode): boolean {
    return this.#index.nodeOf(inode) !== undefined;
  }

  /**
   * Removes a link of a node after its removal from the delta. A node without links stays as an orphan while it is
   * open.
   */
  unlink(access: Access, node: Node, dir: Node, name: ByteString): void {
    node.removeLink(dir, name);
    if (access.actor === 'owner' && (node.inode?.names ?? 0) > 0) this.levels.update(node);
    if (node.links.length > 0) return;
    if (node.inode?.names === 0) this.#delta.unlinked(node.inode);
    if (node.nlookup > 0 || node.children?.size) this.orphans.add(node);
    else this.free(node);
  }

  /**
   * Replaces one link of a node by another, after a rename. Returns steps that apply the rules of the new path; the
   * caller prevents other use of the tree until their end.
   */
  move(access: Access, node: Node, dir: Node, name: ByteString, newDir: Node, newName: ByteString): Steps<void> {
    node.removeLink(dir, name);
    node.addLink(newDir, newName);
    return this.#moved(access, [node, newDir, newName]);
  }

  /** As `move`, for two nodes whose links are exchanged (RENAME_EXCHANGE). */
  exchange(
    access: Access,
    a: Node,
    aDir: Node,
    aName: ByteString,
    b: Node,
    bDir: Node,
    bName: ByteString,
  ): Steps<void> {
    b.removeLink(bDir, bName);
    a.removeLink(aDir, aName);
    a.addLink(bDir, bName);
    b.addLink(aDir, aName);
    return this.#moved(access, [a, bDir, bName], [b, aDir, aName]);
  }

  *#moved(access: Access, ...all: readonly [node: Node, dir: Node, name: ByteString][]): Steps<void> {
    // A move by the owner may change the rules; see `applyRulesToMoved`.
    if (access.actor !== 'agent') return;
    for (const [node, dir, name] of all) {
      if (node.isDirectory) yield* applyRuleBelow(this.#workspace.rules, node, dir.requireAgentRule().child(name));
    }
  }

  /** Removes a link because the base has another file, or none, at its path. An open node stays as an orphan. */
  detach(node: Node, dir: Node, name: ByteString): void {
    if (node.links.length === 1) this.#index.removeBase(node);
    this.unlink(AGENT, node, dir, name);
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
    this.#index.removeBase(node);
    this.numbers.release(node);
    this.orphans.delete(node);
    const { inode } = node;
    const links = [...node.links];
    for (const { parent, name } of links) node.removeLink(parent, name);
    if (this.#index.removeInode(node) && inode?.names === 0) this.#delta.release(inode);
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
}

/** Returns the sandbox's rules for a name; `state` are the rules by this access. */
function agentRuleOf(access: Access, dir: Node, name: ByteString, state: RuleState): RuleState {
  return access.actor === 'agent' && dir.baseRule === undefined ? state : dir.agentRuleOf(name);
}
