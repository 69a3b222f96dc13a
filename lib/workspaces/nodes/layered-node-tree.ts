import { type ByteString, ROOT_PATH } from '../../byte-string.ts';
import { ESTALE } from '../../linux/errno.ts';
import { isDirectory, S_IFMT } from '../../linux/mode.ts';
import { type Level, type RuleState, strictest, WRITE } from '../../permissions/index.ts';
import { type Access, AGENT } from '../access/access.ts';
import type { Base } from '../base/base.ts';
import type { Delta } from '../delta/delta.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';
import { ROOT_ID } from '../delta/index/inode-table.ts';
import { InodeNumbers } from './inode-numbers.ts';
import { LayeredFileLevels } from './layered-file-levels.ts';
import { type LayeredFound, LayeredNode, type LayeredNodeOwner } from './layered-node.ts';
import { listingForMisses } from './merged-listing.ts';
import { type BindingOwner, NodeBinding } from './node-binding.ts';
import { NodeIndex } from './node-index.ts';
import type { NodeSet } from './node-set.ts';
import { NodeTree, type TreeOwner } from './node-tree.ts';
import type { StatAhead } from './stat-ahead.ts';

/** The part of a workspace that its nodes need. */
interface LayeredTreeOwner extends TreeOwner, LayeredNodeOwner, BindingOwner {
  readonly base: Base;
  stateOf(path: ByteString): RuleState;
  readonly shared: TreeOwner['shared'] & BindingOwner['shared'] & { readonly ahead: StatAhead };
}

/** The nodes of a workspace that is a delta over a base. */
export class LayeredNodeTree extends NodeTree<LayeredNode> {
  readonly #workspace: LayeredTreeOwner;
  readonly #base: Base;
  readonly #delta: Delta;
  readonly levels: LayeredFileLevels;
  readonly numbers: InodeNumbers;
  /** What each node shows. */
  readonly binding: NodeBinding;
  readonly #index = new NodeIndex();

  constructor(workspace: LayeredTreeOwner, base: Base, delta: Delta, root: LayeredNode) {
    super(workspace, root);
    this.#workspace = workspace;
    this.#base = base;
    this.#delta = delta;
    this.levels = new LayeredFileLevels(workspace, this.#index);
    this.numbers = new InodeNumbers(() => delta.table);
    this.binding = new NodeBinding(workspace, base, this.#index, this.levels, this.numbers);
    root.inode = delta.table.get(ROOT_ID);
    root.basePath = ROOT_PATH;
    const stat = base.lstat(ROOT_PATH);
    if (stat === undefined || !isDirectory(stat.mode)) throw ESTALE;
    root.base = stat;
    this.#index.addInode(root);
    this.#index.addBaseDirectory(root);
  }

  find(dir: LayeredNode, name: ByteString, level: Level): LayeredFound | undefined {
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

  protected override agentRuleOf(access: Access, dir: LayeredNode, name: ByteString, state: RuleState): RuleState {
    return access.actor === 'agent' && dir.baseRule === undefined ? state : dir.agentRuleOf(name);
  }

  protected known(found: LayeredFound, level: Level): LayeredNode | undefined {
    return this.#index.find(found, level);
  }

  protected make(id: number, { inode, base }: LayeredFound): LayeredNode {
    return new LayeredNode(id, this.#workspace, (inode ?? base!).mode);
  }

  protected bind(node: LayeredNode, dir: LayeredNode, name: ByteString, state: RuleState, found: LayeredFound): void {
    this.binding.bind(node, dir, name, state, found);
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
  rebind(node: LayeredNode, dir: LayeredNode, name: ByteString, shown: NodeSet): boolean {
    const state = dir.agentRuleOf(name);
    const found = this.find(dir, name, state.level);
    if (found === undefined || ((found.inode ?? found.base!).mode & S_IFMT) !== node.type) return false;
    const other = this.#index.find(found, state.level);
    if (other !== undefined || shown.has(node)) return other === node;
    shown.add(node);
    this.closeFile(node);
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
  expire(node: LayeredNode): void {
    this.#workspace.shared.nodes.delete(node);
    this.closeFile(node);
    this.numbers.release(node);
    this.orphans.delete(node);
  }

  addUnlinked({ inode }: LayeredFound): LayeredNode {
    const { nodes } = this.#workspace.shared;
    const node = new LayeredNode(nodes.newId(), this.#workspace, inode!.mode);
    nodes.add(node);
    node.inode = inode;
    node.agentLevel = WRITE;
    this.#index.addInode(node);
    return node;
  }

  /** The directory nodes that show a base path. */
  atBasePath(path: ByteString): Iterable<LayeredNode> {
    return this.#index.atBasePath(path);
  }

  /** Returns the node of an inode, if it has one. */
  nodeOf(inode: Inode): LayeredNode | undefined {
    return this.#index.nodeOf(inode);
  }

  /** Whether an inode has a node. */
  hasNode(inode: Inode): boolean {
    return this.#index.nodeOf(inode) !== undefined;
  }

  /** Removes a link because the base has another file, or none, at its path. An open node stays as an orphan. */
  detach(node: LayeredNode, dir: LayeredNode, name: ByteString): void {
    if (node.links.length === 1) this.#index.removeBase(node);
    this.unlink(AGENT, node, dir, name);
  }

  closeFile(node: LayeredNode): void {
    this.#workspace.shared.files.close(node);
  }

  protected unlinked({ inode }: LayeredNode): void {
    this.#delta.unlinked(inode!);
  }

  protected released(node: LayeredNode): void {
    this.closeFile(node);
    this.#index.removeBase(node);
    this.numbers.release(node);
    const { inode } = node;
    if (this.#index.removeInode(node) && inode?.names === 0) this.#delta.release(inode);
  }

  releaseOrphans(): void {
    for (const { inode } of this.orphans) if (inode !== undefined && inode.names === 0) this.#delta.release(inode);
  }

  levelOfOrphan(file: LayeredNode): Level {
    const { level } = this.#workspace.stateOf(this.pathOf(file));
    if (file.inode !== undefined || file.basePath === undefined) return level;
    return strictest(level, this.#workspace.stateOf(file.basePath).level);
  }
}
