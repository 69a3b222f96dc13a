import type { Inode } from './inode.ts';
import { PAGE_BYTES } from './memory.ts';

/** Ids in one page. */
const PAGE = 32;

interface Page {
  readonly inodes: (Inode | undefined)[];
  used: number;
}

/** Inodes by id. Ids are dense, so pages of an array need less memory than an entry of a map each. */
export class InodePages {
  readonly #pages = new Map<number, Page>();
  size = 0;

  /** Memory of the pages in bytes. */
  get memory(): number {
    return this.#pages.size * PAGE_BYTES;
  }

  get(id: number): Inode | undefined {
    const page = this.#pages.get(Math.floor(id / PAGE));
    return page === undefined ? undefined : page.inodes[id % PAGE];
  }

  /** Adds an inode, or replaces the one with its id. */
  set(inode: Inode): void {
    const number = Math.floor(inode.id / PAGE);
    let page = this.#pages.get(number);
    if (page === undefined) {
      page = { inodes: new Array<Inode | undefined>(PAGE).fill(undefined), used: 0 };
      this.#pages.set(number, page);
    }
    if (page.inodes[inode.id % PAGE] === undefined) {
      page.used++;
      this.size++;
    }
    page.inodes[inode.id % PAGE] = inode;
  }

  /** Removes an inode. Returns false if there is none. */
  delete(id: number): boolean {
    const number = Math.floor(id / PAGE);
    const page = this.#pages.get(number);
    if (page === undefined || page.inodes[id % PAGE] === undefined) return false;
    page.inodes[id % PAGE] = undefined;
    page.used--;
    this.size--;
    if (page.used === 0) this.#pages.delete(number);
    return true;
  }

  /** All inodes, in no particular order. Those added meanwhile may be left out. */
  *values(): Generator<Inode> {
    for (const { inodes } of this.#pages.values()) {
      for (const inode of inodes) if (inode !== undefined) yield inode;
    }
  }
}
