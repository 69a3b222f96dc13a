import { type ByteString, joinPath, parentOf } from '../../byte-string.ts';
import { S_IFREG } from '../../linux/mode.ts';
import type { RuleSet, RuleState } from '../../permissions/index.ts';
import type { Base, BaseStat } from '../base/base.ts';
import type { ChangingPaths } from '../base/base-trees.ts';
import { mergedBase } from '../base/merged-base.ts';
import type { Inode } from '../delta/index/inode.ts';
import type { FileLevels, LevelsOwner } from './file-levels.ts';
import type { HostFiles } from './host-files.ts';
import type { InodeNumbers } from './inode-numbers.ts';
import type { LayeredFound, LayeredNode } from './layered-node.ts';
import type { NodeIndex } from './node-index.ts';

/** The part of a workspace that the binding of its nodes needs. */
export interface BindingOwner extends LevelsOwner {
  readonly rules: RuleSet;
  readonly changing: ChangingPaths;
  readonly shared: LevelsOwner['shared'] & { readonly files: HostFiles };
}

/** Binds nodes to what they show: an inode of the delta, a file or directory of the base, or both, with their rules. */
export class NodeBinding {
  readonly #workspace: BindingOwner;
  readonly #base: Base;
  readonly #index: NodeIndex;
  readonly #levels: FileLevels;
  readonly #numbers: InodeNumbers;

  constructor(workspace: BindingOwner, base: Base, index: NodeIndex, levels: FileLevels, numbers: InodeNumbers) {
    this.#workspace = workspace;
    this.#base = base;
    this.#index = index;
    this.#levels = levels;
    this.#numbers = numbers;
  }

  /** Binds a node without one to what its name in `dir` resolves to; `state` are the rules of the name. */
  bind(
    node: LayeredNode,
    dir: LayeredNode,
    name: ByteString,
    state: RuleState,
    { inode, base, isNew }: LayeredFound,
  ): void {
    node.inode = inode;
    if (inode !== undefined) {
      this.#index.addInode(node);
      node.basePath = isNew ? inode.origin : mergedBase(this.#base, inode, dir.basePath, name);
      if (node.basePath !== undefined) node.base = this.#base.lstat(node.basePath);
    } else {
      node.base = base;
      node.basePath = joinPath(dir.requireBasePath(), name);
      this.#index.addBaseLink(node, state.level);
    }
    this.#index.addBaseDirectory(node);
    if (node.isDirectory)
      this.#applyRule(node, dir.baseRule === undefined ? state : dir.requireAgentRule().child(name));
    else node.agentLevel = this.#levels.find(node, state.level);
    if (this.#workspace.changing.size > 0) this.#pinIfChanging(node);
  }

  /** Binds a node to its inode after its copy-up. */
  copiedUp(node: LayeredNode, inode: Inode): void {
    if (!node.isDirectory) {
      this.#index.removeBaseLink(node);
      this.#workspace.shared.files.close(node);
      node.base = undefined;
      node.basePath = undefined;
    }
    node.inode = inode;
    this.#index.addInode(node);
    if (node.isDirectory) node.agentLevel = node.requireAgentRule().level;
  }

  /** Binds a node to the base again, at `path`: the delta no longer has an inode for it. */
  revertToBase(node: LayeredNode, path: ByteString, base: BaseStat): void {
    this.#numbers.keep(node);
    this.#index.removeInode(node);
    this.#workspace.shared.files.close(node);
    node.inode = undefined;
    if (node.isDirectory) this.mergeWith(node, path, base);
    else {
      this.#index.removeBase(node);
      node.base = base;
      node.basePath = path;
    }
    this.#numbers.settle(node);
  }

  /** The directory of the base that a node shows was replaced. */
  renewBase(node: LayeredNode, base: BaseStat): void {
    this.#numbers.keep(node);
    node.base = base;
    this.#numbers.settle(node);
  }

  /** Merges a changed directory with the base directory at `path`. */
  mergeWith(node: LayeredNode, path: ByteString, base: BaseStat): void {
    this.#index.removeBase(node);
    node.base = base;
    node.basePath = path;
    this.#index.addBaseDirectory(node);
    this.#applyRule(node, node.requireAgentRule());
  }

  /** Gives a changed directory another origin. */
  changeOrigin(node: LayeredNode, origin: ByteString): void {
    if (node.basePath === origin) return;
    this.#index.removeBaseDirectory(node);
    node.basePath = origin;
    this.#index.addBaseDirectory(node);
    this.#applyRule(node, node.requireAgentRule());
  }

  /** Makes a changed directory show nothing of the base. */
  unmerge(node: LayeredNode): void {
    this.#index.removeBase(node);
    node.base = undefined;
    node.basePath = undefined;
    node.baseRule = undefined;
    node.outdateListing();
  }

  #applyRule(dir: LayeredNode, byPath: RuleState): void {
    dir.applyRule(this.#workspace.rules, byPath);
  }

  /**
   * Pins a base file that is looked up while its path is being replaced, so that processes that open it keep its
   * contents.
   */
  #pinIfChanging(node: LayeredNode): void {
    const { changing, shared } = this.#workspace;
    if (node.type !== S_IFREG || node.base === undefined || node.inode !== undefined) return;
    for (let path = node.requireBasePath(); ; path = parentOf(path)) {
      if (changing.has(path)) {
        const { base } = node;
        shared.files.pin(node, () => this.#base.open(node.requireBasePath(), base));
        return;
      }
      if (!path.includes('/')) return;
    }
  }
}
