import type { Disk } from '../../../disk/disk.ts';
import { layerPath } from '../layers/layer-path.ts';
import { Slabs } from './slabs.ts';
import type { StoredFile } from './stored-file.ts';

/** Where new contents go: the writable layer of a delta, or the one layer of a tree. All others are frozen. */
export class TopLayer {
  /** Directory of all layers. */
  readonly root: string;
  readonly #isShared: ((file: StoredFile) => boolean) | undefined;
  #layer: string;
  #slabs: Slabs;

  /** `isShared`: whether others have contents of the one layer of a tree. Absent: the layers are those of a delta. */
  constructor(root: string, layer: string, isShared?: (file: StoredFile) => boolean, disk?: Disk) {
    this.root = root;
    this.#isShared = isShared;
    this.#layer = layer;
    this.#slabs = new Slabs(layerPath(root, layer), disk);
  }

  /** Its name. */
  get layer(): string {
    return this.#layer;
  }

  get slabs(): Slabs {
    return this.#slabs;
  }

  /** Whether others have the contents, as all those of a frozen layer: they must be copied before a change. */
  isFrozen(file: StoredFile): boolean {
    const { layer } = file;
    return layer !== undefined && (layer !== this.#layer || this.#isShared?.(file) === true);
  }

  /** Replaces the layer by a new one. */
  replace(layer: string): void {
    this.#slabs.close();
    this.#slabs = new Slabs(layerPath(this.root, layer));
    this.#layer = layer;
  }
}
