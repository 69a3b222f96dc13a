import { layerPath } from '../layers/layer-path.ts';
import { openIfExists } from './host-io.ts';
import type { OwnSyncs } from './host-syncs.ts';
import { placeOf } from './slabs.ts';
import type { StoredFile } from './stored-file.ts';
import type { TopLayer } from './top-layer.ts';

/** A copy of an inode's contents in another slot. */
interface Move {
  inode: StoredFile;
  to: number;
  /** Records the new slot. Throws host errors. */
  record: () => void;
}

/**
 * Moves of durable contents to earlier slots. A record names the new slot only after another thread has made the slab
 * durable; if the contents have changed by then, or cannot be recorded, the copy is dropped.
 */
export class SlotMoves {
  readonly #top: TopLayer;
  readonly #syncs: OwnSyncs;
  readonly #isHeld: () => boolean;
  #moving = false;
  #closed = false;

  /** `isHeld`: whether a long operation runs on the delta, which nothing may change meanwhile. */
  constructor(top: TopLayer, syncs: OwnSyncs, isHeld: () => boolean) {
    this.#top = top;
    this.#syncs = syncs;
    this.#isHeld = isHeld;
  }

  /** Whether `record` must wait for a sync in another thread. */
  get inBackground(): boolean {
    return this.#syncs.inBackground;
  }

  /** Whether a move is in progress. */
  get isMoving(): boolean {
    return this.#moving;
  }

  /** Records a move after the slab of the new slot is durable. `done` is called unless that failed. */
  begin({ inode, to, record }: Move, done: () => void): void {
    const { root, layer, slabs } = this.#top;
    const { size, expected } = inode;
    const from = inode.requireData().slot;
    const { path } = placeOf(layerPath(root, layer), to);
    this.#moving = true;
    this.#syncs.add({
      mayBegin: () => this.#closed || !this.#isHeld(),
      open: () => {
        const file = this.#closed ? undefined : openIfExists(path);
        return { files: file === undefined ? [] : [{ file, datasync: true }] };
      },
      done: (result) => {
        this.#moving = false;
        // The slot of a layer that was frozen meanwhile stays unused.
        if (this.#closed || this.#top.slabs !== slabs) return;
        const durable = 'errnos' in result && result.errnos[0] === 0 && !this.#isHeld();
        const same = slabs.holds(from, inode) && inode.size === size && inode.expected === expected;
        try {
          if (durable && same) record();
          else slabs.discard(to);
        } catch {
          slabs.discard(to);
          return;
        }
        if (durable) done();
      },
    });
  }

  /** Drops a move in progress. */
  close(): void {
    this.#closed = true;
  }
}
