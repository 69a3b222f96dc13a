import { type ByteString, toBuffer } from '../../byte-string.ts';
import type { HostFile } from '../../host-tree/host-file.ts';
import { closeQuietly } from '../../linux/close.ts';
import { S_IFMT, S_IFREG } from '../../linux/mode.ts';
import { isZero } from '../../linux/sparse-files.ts';
import { readFile } from '../delta/contents/host-io.ts';
import type { Inode } from '../delta/index/inode.ts';
import { Change } from '../history/change.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import type { LayeredNode } from '../nodes/layered-node.ts';
import { stageText } from './layered-names.ts';
import type { StoredContents } from './stored-files.ts';

/** Blocks of a file that are looked at for zeros. */
const BLOCK = 4096;

/** The contents of a workspace that is a delta over a base. */
export class LayeredContents implements StoredContents {
  readonly #workspace: LayeredWorkspace;

  constructor(workspace: LayeredWorkspace) {
    this.#workspace = workspace;
  }

  target(node: LayeredNode): Buffer {
    if (node.inode !== undefined) return toBuffer(node.inode.target!);
    return this.#workspace.base.readlink(node.requireBasePath());
  }

  read(node: LayeredNode, offset: number, into: Buffer): number {
    const { inode } = node;
    if (inode === undefined) return readFile(this.#baseFd(node), offset, into);
    return this.#workspace.delta.read(inode, offset, into, () => this.#dataFd(node, inode));
  }

  hostFile(node: LayeredNode): HostFile | undefined {
    const { delta, base } = this.#workspace;
    if (node.inode !== undefined) return node.inode.hasFile ? delta.hostFile(node.inode) : undefined;
    return node.basePath === undefined ? undefined : base.hostFile(node.basePath, node.requireBase());
  }

  codebaseFile(path: ByteString, most: number): Buffer | undefined {
    const { base } = this.#workspace;
    const stat = base.lstat(path);
    if (stat === undefined || (stat.mode & S_IFMT) !== S_IFREG || stat.size > most) return undefined;
    const fd = base.open(path, stat);
    try {
      const bytes = Buffer.allocUnsafeSlow(stat.size);
      return bytes.subarray(0, readFile(fd, 0, bytes));
    } finally {
      closeQuietly(fd);
    }
  }

  makeOwn(node: LayeredNode, contents: boolean): void {
    // Without contents the file is about to be truncated, which frees space.
    if (node.inode === undefined) Change.make(this.#workspace, (change) => change.node(node, contents), !contents);
  }

  makeText(node: LayeredNode, bytes: Buffer): void {
    Change.make(this.#workspace, (change) => stageText(this.#workspace, change, change.nodeWith(node, bytes)));
  }

  leaveText({ inode }: LayeredNode): void {
    if (inode?.isAgentText) Change.make(this.#workspace, (change) => change.untext(inode.id));
  }

  write(node: LayeredNode, offset: number, data: Buffer): number {
    const { delta } = this.#workspace;
    const inode = node.inode!;
    delta.claims.write(inode, offset, offset + data.length, (from, to) => this.#emptyBlocks(node, from, to));
    return this.#changing(node, true, () => delta.write(inode, offset, data, () => this.#dataFd(node, inode)));
  }

  truncate(node: LayeredNode, size: number): void {
    const { delta } = this.#workspace;
    const inode = node.inode!;
    // Truncating a file that a checkpoint shares frees no space, but must be possible at a full quota.
    if (size > inode.size) delta.claims.write(inode, size, size);
    this.#changing(node, size > 0, () => delta.truncate(inode, size, () => this.#dataFd(node, inode)));
  }

  sync({ inode }: LayeredNode, datasync: boolean): number | undefined {
    // An unchanged file or directory is the codebase's, which is durable.
    return inode === undefined ? undefined : this.#workspace.delta.syncs.syncFile(inode, datasync);
  }

  #changing<T>(node: LayeredNode, contents: boolean, change: () => T): T {
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
  #emptyBlocks(node: LayeredNode, from: number, to: number): number {
    const bytes = Buffer.alloc(to - from);
    this.read(node, from, bytes);
    let empty = 0;
    for (let at = 0; at < bytes.length; at += BLOCK) if (isZero(bytes.subarray(at, at + BLOCK))) empty += BLOCK;
    return empty;
  }

  #baseFd(node: LayeredNode): number {
    const { base, shared } = this.#workspace;
    return shared.files.of(node, () => base.open(node.requireBasePath(), node.requireBase()));
  }

  #dataFd(node: LayeredNode, inode: Inode): number {
    return this.#workspace.shared.files.of(node, () => this.#workspace.delta.openFile(inode));
  }
}
