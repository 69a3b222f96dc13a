import type { Steps } from '../../fuse/connection/steps.ts';
import type { Level } from '../../permissions/index.ts';
import { LinkLevels } from '../access/link-levels.ts';
import { FileLevels, type LevelsOwner } from './file-levels.ts';
import type { LayeredNode } from './layered-node.ts';
import type { NodeIndex } from './node-index.ts';

/** Levels of files of a delta over a base. */
export class LayeredFileLevels extends FileLevels<LayeredNode> {
  readonly #workspace: LevelsOwner;
  readonly #index: NodeIndex;
  #ofLinks: LinkLevels;

  constructor(workspace: LevelsOwner, index: NodeIndex) {
    super(workspace);
    this.#workspace = workspace;
    this.#index = index;
    this.#ofLinks = new LinkLevels(workspace.rules);
  }

  protected ofAllLinks({ inode }: LayeredNode): Steps<Level> | undefined {
    return inode === undefined || inode.linkCount < 2 ? undefined : this.#ofLinks.find(inode);
  }

  protected *linked(): Generator<LayeredNode> {
    for (const node of this.#index.withInode()) {
      if (!node.isDirectory && (node.inode?.linkCount ?? 0) > 1) yield node;
    }
  }

  reset(): void {
    this.#ofLinks = new LinkLevels(this.#workspace.rules);
  }

  override set(node: LayeredNode, level: Level): void {
    const isIndexed = this.#index.removeBaseLink(node);
    super.set(node, level);
    if (isIndexed) this.#index.addBaseLink(node, level);
  }
}
