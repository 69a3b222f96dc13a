import type { Steps } from '../fuse/connection/steps.ts';
import { S_IFDIR } from '../linux/mode.ts';
import { TreeNode } from './nodes/tree-node.ts';
import { TreeNodes } from './nodes/tree-nodes.ts';
import type { Shared } from './shared.ts';
import type { StoredFiles } from './stored/stored-files.ts';
import type { TreeFileContents } from './tree/contents/tree-file-contents.ts';
import type { LiveTree } from './tree/live-tree.ts';
import { type Opened, Workspace } from './workspace.ts';
import type { WorkspaceSpec } from './workspaces.ts';

/** Memory of a name in a patch, in bytes. */
const PATCHED_BYTES = 600;

/** What a workspace that is a tree consists of while it is open. */
export interface TreeParts {
  readonly live: LiveTree;
  readonly contents: TreeFileContents;
  /** An inode number that no other file has. */
  nextIno(): number;
  /** Freezes the tree if that is due and possible. */
  freezeIfDue(): void;
  readonly placeholderKeys: readonly string[];
  syncing(): Steps<void>;
  /** Without a sync. */
  close(): void;
}

/** Reads the state of a workspace, in steps. */
export type OpenTree = (spec: WorkspaceSpec, shared: Shared<Workspace>) => Steps<TreeParts>;

interface TreeOpened extends Opened {
  readonly parts: TreeParts;
  readonly tree: TreeNodes;
}

interface TreeOptions {
  readonly open: OpenTree;
  readonly stored: (workspace: TreeWorkspace) => StoredFiles;
  /** Its root, if the kernel knew the directory before the workspace took it. */
  readonly place: TreeNode | undefined;
}

/** A workspace that is a live tree of objects. */
export class TreeWorkspace extends Workspace<TreeOpened> {
  readonly stored: StoredFiles;
  readonly #options: TreeOptions;

  constructor(spec: WorkspaceSpec, shared: Shared<Workspace>, options: TreeOptions) {
    super(spec, shared);
    this.#options = options;
    this.stored = options.stored(this);
  }

  get live(): LiveTree {
    return this.opened.parts.live;
  }

  get contents(): TreeFileContents {
    return this.opened.parts.contents;
  }

  nextIno(): number {
    return this.opened.parts.nextIno();
  }

  freezeIfDue(): void {
    this.opened.parts.freezeIfDue();
  }

  protected *loading(): Steps<TreeOpened> {
    const parts = yield* this.#options.open(this.spec, this.shared);
    const tree = new TreeNodes(this, parts.live, parts.contents, this.#options.place ?? this.#newRoot());
    return new OpenedTree(this, parts, tree);
  }

  #newRoot(): TreeNode {
    const { nodes } = this.shared;
    const root = new TreeNode(nodes.newId(), this, S_IFDIR);
    nodes.add(root);
    return root;
  }

  protected *settling(): Steps<void> {}

  protected closed(): void {}
}

class OpenedTree implements TreeOpened {
  readonly parts: TreeParts;
  readonly tree: TreeNodes;
  readonly #workspace: TreeWorkspace;

  constructor(workspace: TreeWorkspace, parts: TreeParts, tree: TreeNodes) {
    this.#workspace = workspace;
    this.parts = parts;
    this.tree = tree;
  }

  get room(): Opened['room'] {
    const { totals, unlinked } = this.parts.live;
    const held = { bytes: totals.ownBytes + unlinked.bytes, files: totals.ownEntries + unlinked.files };
    const { beside } = this.#workspace;
    const other = beside?.isOpen ? beside.room.held : { bytes: 0, files: 0 };
    const used = { bytes: held.bytes + other.bytes, files: held.files + other.files };
    return { ownerRoom: Number.POSITIVE_INFINITY, diskRoom: Number.POSITIVE_INFINITY, used, held };
  }

  get memory(): number {
    return this.parts.live.counters.patched * PATCHED_BYTES;
  }

  get ownMemory(): number {
    return this.memory;
  }

  get placeholderKeys(): readonly string[] {
    return this.parts.placeholderKeys;
  }

  syncing(): Steps<void> {
    return this.parts.syncing();
  }

  close(): void {
    this.parts.close();
  }
}
