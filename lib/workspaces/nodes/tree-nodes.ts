import type { ByteString } from '../../byte-string.ts';
import { type Level, type RuleState, WRITE } from '../../permissions/index.ts';
import type { Access } from '../access/access.ts';
import { dividedIfLarge, type LargeMap } from '../delta/index/divided-map.ts';
import type { TreeFileContents } from '../tree/contents/tree-file-contents.ts';
import { type Item, OwnDirectory, OwnFile } from '../tree/items.ts';
import type { LiveTree } from '../tree/live-tree.ts';
import type { LevelsOwner } from './file-levels.ts';
import { NodeTree, type TreeOwner } from './node-tree.ts';
import { TreeFileLevels } from './tree-file-levels.ts';
import { TreeNode, typeOf } from './tree-node.ts';

interface NodesOwner extends TreeOwner {
  stateOf(path: ByteString): RuleState;
  readonly shared: TreeOwner['shared'] & LevelsOwner['shared'];
}

const NUMBERS = { of: (node: TreeNode): number => node.entry.ino };

/** The nodes of a workspace that is a live tree of objects. */
export class TreeNodes extends NodeTree<TreeNode> {
  readonly levels: TreeFileLevels;
  readonly numbers = NUMBERS;
  readonly #workspace: NodesOwner;
  readonly #live: LiveTree;
  readonly #contents: TreeFileContents;
  /** Of files with several names, by their inode numbers. */
  #linked: LargeMap<number, TreeNode> = new Map();
  /** A name that a listing has just shown, so that it is not looked up again. */
  #listed: { readonly dir: TreeNode; readonly name: ByteString; readonly item: Item } | undefined;

  constructor(workspace: NodesOwner, live: LiveTree, contents: TreeFileContents, root: TreeNode) {
    super(workspace, root);
    this.#workspace = workspace;
    this.#live = live;
    this.#contents = contents;
    this.levels = new TreeFileLevels(workspace, live, () => this.#linked.values());
    root.bind(live, live.root);
  }

  /** Call before a name that a listing has is looked up; nothing changes until then. */
  expect(dir: TreeNode, name: ByteString, item: Item): void {
    this.#listed = { dir, name, item };
  }

  find(dir: TreeNode, name: ByteString): Item | undefined {
    const listed = this.#listed;
    this.#listed = undefined;
    if (listed !== undefined && listed.dir === dir && listed.name === name) return listed.item;
    return this.#live.lookup(dir.directory, name);
  }

  protected known(item: Item): TreeNode | undefined {
    if (item instanceof OwnDirectory) return undefined;
    if (item instanceof OwnFile) return this.#linked.get(item.entry.ino);
    return item.nlink > 1 ? this.#linked.get(item.ino) : undefined;
  }

  protected make(id: number, item: Item): TreeNode {
    return new TreeNode(id, this.#workspace, typeOf(item));
  }

  protected bind(node: TreeNode, _dir: TreeNode, _name: ByteString, state: RuleState, item: Item): void {
    node.bind(this.#live, item);
    if (node.isDirectory) {
      node.applyRule(this.#workspace.rules, state);
      return;
    }
    if (node.nameCount > 1) this.#index(node);
    node.agentLevel = this.levels.find(node, state.level);
  }

  #index(node: TreeNode): void {
    this.#linked = dividedIfLarge(this.#linked).set(node.entry.ino, node);
  }

  override link(access: Access, node: TreeNode, dir: TreeNode, name: ByteString, acting: RuleState): void {
    this.#index(node);
    super.link(access, node, dir, name, acting);
  }

  addUnlinked(file: OwnFile): TreeNode {
    const { nodes } = this.#workspace.shared;
    const node = new TreeNode(nodes.newId(), this.#workspace, typeOf(file));
    nodes.add(node);
    node.bind(this.#live, file);
    node.agentLevel = WRITE;
    return node;
  }

  /** Descriptors belong to contents, not to nodes. */
  closeFile(): void {}

  protected unlinked({ item }: TreeNode): void {
    if (item instanceof OwnFile) this.#live.unlinked.keep(item);
  }

  protected released(node: TreeNode): void {
    if (node.isDirectory) return;
    const { item, entry } = node;
    if (this.#linked.get(entry.ino) === node) this.#linked.delete(entry.ino);
    this.#release(item);
  }

  releaseOrphans(): void {
    for (const { item } of this.orphans) this.#release(item);
  }

  /** The contents of a file without a name are of no use any more. */
  #release(item: Item): void {
    if (!(item instanceof OwnFile) || item.names.length > 0) return;
    this.#live.unlinked.release(item);
    this.#contents.released(item.entry);
  }

  levelOfOrphan(file: TreeNode): Level {
    return this.#workspace.stateOf(this.pathOf(file)).level;
  }
}
