import { toBuffer } from '../../byte-string.ts';
import type { HostFile } from '../../host-tree/host-file.ts';
import { isZero } from '../../linux/sparse-files.ts';
import { readFile } from '../delta/contents/host-io.ts';
import type { Inode } from '../delta/index/inode.ts';
import { Change } from '../history/change.ts';
import type { Node } from '../nodes/node.ts';
import type { Workspace } from '../workspace.ts';
import { stageText } from './layered-names.ts';
import type { StoredContents } from './stored-files.ts';

/** Blocks of a file that are looked at for zeros. */
const BLOCK = 4096;

/** The contents of a workspace that is a delta over a base. */
export class LayeredContents implements StoredContents {
  readonly #workspace: Workspace;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  target(node: Node): Buffer {
    if (node.inode !== undefined) return toBuffer(node.inode.target!);
    return this.#workspace.base.readlink(node.requireBasePath());
  }

  read(node: Node, offset: number, into: Buffer): number {
    const { inode } = node;
    if (inode === undefined) return readFile(this.#baseFd(node), offset, into);
    return this.#workspace.delta.read(inode, offset, into, () => this.#dataFd(node, inode));
  }

  hostFile(node: Node): HostFile | undefined {
    const { delta, base } = this.#workspace;
    if (node.inode !== undefined) return node.inode.hasFile ? delta.hostFile(node.inode) : undefined;
    return node.basePath === undefined ? undefined : base.hostFile(node.basePath, node.requireBase());
  }

  makeOwn(node: Node, contents: boolean): void {
    // Without contents the file is about to be truncated, which frees space.
    if (node.inode === undefined) Change.make(this.#workspace, (change) => change.node(node, contents), !contents);
  }

  makeText(node: Node, bytes: Buffer): void {
    Change.make(this.#workspace, (change) => stageText(this.#workspace, change, change.nodeWith(node, bytes)));
  }

  leaveText({ inode }: Node): void {
    if (inode?.isAgentText) Change.make(this.#workspace, (change) => change.untext(inode.id));
  }

  write(node: Node, offset: number, data: Buffer): number {
    const { delta } = this.#workspace;
    const inode = node.inode!;
    delta.claims.write(inode, offset, offset + data.length, (from, to) => this.#emptyBlocks(node, from, to));
    return this.#changing(node, true, () => delta.write(inode, offset, data, () => this.#dataFd(node, inode)));
  }

  truncate(node: Node, size: number): void {
    const { delta } = this.#workspace;
    const inode = node.inode!;
    // Truncating a file that a checkpoint shares frees no space, but must be possible at a full quota.
    if (size > inode.size) delta.claims.write(inode, size, size);
    this.#changing(node, size > 0, () => delta.truncate(inode, size, () => this.#dataFd(node, inode)));
  }

  sync({ inode }: Node, datasync: boolean): number | undefined {
    // An unchanged file or directory is the codebase's, which is durable.
    return inode === undefined ? undefined : this.#workspace.delta.syncs.syncFile(inode, datasync);
  }

  #changing<T>(node: Node, contents: boolean, change: () => T): T {
    const { delta, shared } = this.#workspace;
    if (delta.thaw(node.inode!, contents)) shared.files.close(node);
    this.#workspace.warnReaders();
    try {
      return change();
    } finally {
      this.#workspace.countChange();
    }
  }

  /** Bytes of the blocks from byte `from` to `to` that have only zeros, or are beyond the end: holes cannot be told from them. */
  #emptyBlocks(node: Node, from: number, to: number): number {
    const bytes = Buffer.alloc(to - from);
    this.read(node, from, bytes);
    let empty = 0;
    for (let at = 0; at < bytes.length; at += BLOCK) if (isZero(bytes.subarray(at, at + BLOCK))) empty += BLOCK;
    return empty;
  }

  #baseFd(node: Node): number {
    const { base, shared } = this.#workspace;
    return shared.files.of(node, () => base.open(node.requireBasePath(), node.requireBase()));
  }

  #dataFd(node: Node, inode: Inode): number {
    return this.#workspace.shared.files.of(node, () => this.#workspace.delta.openFile(inode));
  }
}
