import type { ByteString } from '../../byte-string.ts';
import { isDirectory } from '../../linux/mode.ts';
import type { Level } from '../../permissions/index.ts';
import type { BaseStat } from '../base/base.ts';
import { dividedIfLarge, type LargeMap } from '../delta/index/divided-map.ts';
import type { Inode } from '../delta/index/inode.ts';
import { BaseDirectories } from './base-directories.ts';
import type { LayeredFound, LayeredNode } from './layered-node.ts';

/** Finds the nodes of one workspace by what they show: an inode of the delta, a link of a base file, a base directory. */
export class NodeIndex {
  /** By inode id. */
  #byInode: LargeMap<number, LayeredNode> = new Map();
  /** Unchanged base files with several links, by `dev:ino:level`. Links of different levels are different nodes. */
  #byBaseLink: LargeMap<string, LayeredNode> = new Map();
  /** The directories that show each base directory. */
  readonly #byBasePath = new BaseDirectories();

  clear(): void {
    this.#byInode = new Map();
    this.#byBaseLink = new Map();
    this.#byBasePath.clear();
  }

  /** Returns the node of what a name resolves to, if another link gave it one. */
  find({ inode, base }: LayeredFound, level: Level): LayeredNode | undefined {
    if (inode !== undefined) return this.#byInode.get(inode.id);
    const key = base !== undefined ? linkKey(base, level) : undefined;
    return key !== undefined ? this.#byBaseLink.get(key) : undefined;
  }

  nodeOf(inode: Inode): LayeredNode | undefined {
    return this.#byInode.get(inode.id);
  }

  /** The nodes that show an inode of the delta. */
  withInode(): Iterable<LayeredNode> {
    return this.#byInode.values();
  }

  /** The directory nodes that show a base path. */
  atBasePath(path: ByteString): Iterable<LayeredNode> {
    return this.#byBasePath.at(path);
  }

  /** Records that `node` shows its `inode`. */
  addInode(node: LayeredNode): void {
    if (node.inode !== undefined) this.#byInode = dividedIfLarge(this.#byInode).set(node.inode.id, node);
  }

  /** Removes that record. Returns false if the inode has another node, or none. */
  removeInode(node: LayeredNode): boolean {
    const { inode } = node;
    return inode !== undefined && this.#byInode.get(inode.id) === node && this.#byInode.delete(inode.id);
  }

  /** Records that `node`, of a file whose path has this level, shows its `base`. */
  addBaseLink(node: LayeredNode, level: Level): void {
    const key = node.base && linkKey(node.base, level);
    if (key !== undefined) this.#byBaseLink = dividedIfLarge(this.#byBaseLink).set(key, node);
  }

  /** Removes that record. Returns false if there is none for this node. */
  removeBaseLink(node: LayeredNode): boolean {
    const key = node.base && linkKey(node.base, node.agentLevel as Level);
    return key !== undefined && this.#byBaseLink.get(key) === node && this.#byBaseLink.delete(key);
  }

  /** Records that a directory shows its `basePath`. */
  addBaseDirectory(node: LayeredNode): void {
    if (node.isDirectory && node.basePath !== undefined) this.#byBasePath.add(node.basePath, node);
  }

  /** Removes that record. */
  removeBaseDirectory(node: LayeredNode): void {
    if (node.isDirectory && node.basePath !== undefined) this.#byBasePath.remove(node.basePath, node);
  }

  /** Removes the records of what a node shows of the base. */
  removeBase(node: LayeredNode): void {
    this.removeBaseLink(node);
    this.removeBaseDirectory(node);
  }
}

/** Key of a base file with several links; undefined for other files. */
function linkKey(base: BaseStat, level: Level): string | undefined {
  return base.nlink > 1 && !isDirectory(base.mode) ? `${base.dev}:${base.ino}:${level}` : undefined;
}
