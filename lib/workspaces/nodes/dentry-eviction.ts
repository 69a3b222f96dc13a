import type { Notifier } from '../../fuse/filesystem.ts';
import { type MemoryBudget, type MemoryHolder, NODE_BYTES } from '../memory-budget.ts';
import type { Node } from './node.ts';

/** Smallest number of dentries that are evicted at once. */
const MIN_EVICTED = 64;

/** The part of a workspace that the eviction needs. */
export interface EvictionOwner extends MemoryHolder {
  /** Number of its nodes. */
  knownNodes: number;
  readonly shared: { readonly memory: MemoryBudget; readonly notifier: Notifier };
}

/**
 * Keeps the nodes of a workspace within its memory. The kernel caches dentries as long as the host has memory. A
 * workspace with too many nodes makes it drop the dentries of the oldest files.
 */
export class DentryEviction {
  readonly #workspace: EvictionOwner;
  readonly #nodes: () => Generator<Node>;
  /** Where the next eviction continues. */
  #cursor: Generator<Node>;
  #untilNext = 0;

  /** `nodes`: all nodes, oldest first. */
  constructor(workspace: EvictionOwner, nodes: () => Generator<Node>) {
    this.#workspace = workspace;
    this.#nodes = nodes;
    this.#cursor = nodes();
  }

  /** Call before a node is added. Throws EDQUOT if the kernel does not drop enough, because the files are open. */
  makeRoom(): void {
    const { memory, notifier } = this.#workspace.shared;
    if (!memory.isOver(this.#workspace, NODE_BYTES, false)) return;
    const count = Math.max(MIN_EVICTED, Math.floor(this.#workspace.knownNodes / 8));
    if (--this.#untilNext > 0) {
      memory.claim(this.#workspace, NODE_BYTES, true);
      return;
    }
    this.#untilNext = Math.floor(count / 2);
    for (let evicted = 0, looked = 0; evicted < count && looked < 4 * count; looked++) {
      const { done, value: node } = this.#cursor.next();
      if (done) {
        this.#cursor = this.#nodes();
        break;
      }
      const link = node.links[0];
      if (node.isDirectory || node.nlookup === 0 || link === undefined) continue;
      notifier.dropEntry(link.parent.id, link.name);
      evicted++;
    }
    memory.claim(this.#workspace, NODE_BYTES, true);
  }
}
