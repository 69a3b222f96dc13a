import { type ByteString, toBuffer } from '../../byte-string.ts';
import type { HostFile } from '../../host-tree/host-file.ts';
import { entryAt } from '../../trees/directory/find-entry.ts';
import { TYPE } from '../../trees/format/entry.ts';
import type { TreeNode } from '../nodes/tree-node.ts';
import { setText } from '../tree/changes/contents.ts';
import { OwnFile } from '../tree/items.ts';
import type { TreeWorkspace } from '../tree-workspace.ts';
import type { StoredContents } from './stored-files.ts';
import type { TreeChanges } from './tree-changes.ts';

/** The contents of a workspace that is a live tree of objects. */
export class StoredTreeContents implements StoredContents {
  readonly #workspace: TreeWorkspace;
  readonly #changes: TreeChanges;

  constructor(workspace: TreeWorkspace, changes: TreeChanges) {
    this.#workspace = workspace;
    this.#changes = changes;
  }

  target(node: TreeNode): Buffer {
    return toBuffer(node.entry.target!);
  }

  read(node: TreeNode, offset: number, into: Buffer): number {
    return this.#workspace.contents.read(node.entry, offset, into);
  }

  hostFile(node: TreeNode): HostFile | undefined {
    return this.#workspace.contents.hostFile(node.entry);
  }

  codebaseFile(path: ByteString, most: number): Buffer | undefined {
    const { live, contents } = this.#workspace;
    const entry = entryAt(live.source, live.base.base, path);
    if (entry === undefined || entry.type !== TYPE.file || entry.size > most) return undefined;
    const bytes = Buffer.allocUnsafeSlow(entry.size);
    return bytes.subarray(0, contents.read(entry, 0, bytes));
  }

  makeOwn(node: TreeNode): void {
    if (node.item instanceof OwnFile) return;
    this.#changes.begin(node.isOwn ? 0 : 1, 0);
    this.#changes.file(node);
  }

  makeText(node: TreeNode, bytes: Buffer): void {
    this.#changes.begin(1, bytes.length);
    this.#change(() => this.#workspace.contents.makeText(this.#changes.file(node), bytes));
  }

  leaveText(node: TreeNode): void {
    const { live } = this.#workspace;
    if (node.isAgentText) this.#change(() => setText(live, this.#changes.file(node), false));
  }

  write(node: TreeNode, offset: number, data: Buffer): number {
    this.#changes.begin(0, Math.max(0, offset + data.length - node.entry.size));
    return this.#change(() => this.#workspace.contents.write(this.#changes.file(node), offset, data));
  }

  truncate(node: TreeNode, size: number): void {
    this.#changes.begin(0, 0);
    this.#change(() => this.#workspace.contents.truncate(this.#changes.file(node), size));
  }

  sync({ item, isDirectory }: TreeNode, datasync: boolean): number | undefined {
    // An unchanged file is durable, or was made so by the freeze that has it.
    if (isDirectory) return this.#workspace.contents.sync(undefined, datasync);
    return item instanceof OwnFile ? this.#workspace.contents.sync(item, datasync) : undefined;
  }

  #change<T>(change: () => T): T {
    this.#workspace.warnReaders();
    try {
      return change();
    } finally {
      this.#workspace.countChange();
    }
  }
}
