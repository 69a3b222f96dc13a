import { layerPath } from '../layers/layer-path.ts';
import { Slabs } from './slabs.ts';
import type { StoredFile } from './stored-file.ts';

/** The writable layer of a delta. All other layers are frozen. */
export class TopLayer {
  /** Directory of all layers. */
  readonly root: string;
  #layer: string;
  #slabs: Slabs;

  constructor(root: string, layer: string) {
    this.root = root;
    this.#layer = layer;
    this.#slabs = new Slabs(layerPath(root, layer));
  }

  /** Its name. */
  get layer(): string {
    return this.#layer;
  }

  get slabs(): Slabs {
    return this.#slabs;
  }

  /** Whether the contents are in a frozen layer: they are shared and must be copied before a change. */
  isFrozen({ layer }: StoredFile): boolean {
    return layer !== undefined && layer !== this.#layer;
  }

  /** Replaces the layer by a new one. */
  replace(layer: string): void {
    this.#slabs.close();
    this.#slabs = new Slabs(layerPath(this.root, layer));
    this.#layer = layer;
  }
}
