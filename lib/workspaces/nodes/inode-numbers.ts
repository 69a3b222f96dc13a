import { FIRST_INO } from '../delta/index/inode.ts';
import type { LayeredNode } from './layered-node.ts';

/** Offset added to the number of a base file while another file has that number; those of base files are smaller. */
const RELOCATED_INO = 2 ** 50;
/** Above it numbers are not exact. */
const LAST_INO = 2 ** 53 - 1;

/**
 * The inode numbers (st_ino) of the nodes of one workspace; unique in it. Programs identify a file that they have open by its
 * number, so a node keeps the number that the kernel knows for as long as it lives, whatever it shows by then.
 */
export class InodeNumbers {
  readonly #table: () => { keepsIno(ino: number): boolean };
  /** Nodes that keep a number of a base file, or one with the offset, which they do not show any more: the host may reuse it. */
  readonly #keepers = new Map<number, LayeredNode>();

  /** `table`: returns the present inode table of the delta. */
  constructor(table: () => { keepsIno(ino: number): boolean }) {
    this.#table = table;
  }

  of(node: LayeredNode): number {
    node.ino ??= this.#relocated(node);
    return node.ino ?? shownIno(node)!;
  }

  /** Call before a node shows something else, and `settle` afterwards. */
  keep(node: LayeredNode): void {
    if (node.nlookup === 0 || shownIno(node) === undefined) return;
    node.ino = this.of(node);
    const isOfBase = node.ino < FIRST_INO || node.ino >= RELOCATED_INO;
    if (isOfBase && !this.#keepers.has(node.ino)) this.#keepers.set(node.ino, node);
  }

  /** Frees what `keep` recorded if the node shows a file of this number. */
  settle(node: LayeredNode): void {
    if (node.ino === undefined || node.ino !== shownIno(node)) return;
    this.release(node);
    node.ino = undefined;
  }

  /** Call when a node is freed. */
  release(node: LayeredNode): void {
    if (node.ino !== undefined && this.#keepers.get(node.ino) === node) this.#keepers.delete(node.ino);
  }

  #relocated(node: LayeredNode): number | undefined {
    if (node.inode !== undefined) return undefined;
    const { ino } = node.requireBase();
    const isKept = (by: LayeredNode | undefined) => by !== undefined && by.base?.ino !== ino;
    if (!this.#table().keepsIno(ino) && !isKept(this.#keepers.get(ino))) return undefined;
    let free = ino + RELOCATED_INO;
    while (isKept(this.#keepers.get(free)) && free + RELOCATED_INO <= LAST_INO) free += RELOCATED_INO;
    return free;
  }
}

function shownIno({ inode, base }: LayeredNode): number | undefined {
  return inode?.ino ?? base?.ino;
}
