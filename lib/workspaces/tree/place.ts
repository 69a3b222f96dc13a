import type { ByteString } from '../../byte-string.ts';
import type { Counters } from './counters.ts';
import type { Found } from './found.ts';
import { type Item, OwnDirectory } from './items.ts';

/** A name in an own directory. All that is to be read is read when it is made: to set it cannot fail. */
export class Place {
  readonly dir: OwnDirectory;
  readonly name: ByteString;
  readonly #found: Found;
  readonly #counters: Counters;

  constructor(counters: Counters, dir: OwnDirectory, name: ByteString, found: Found) {
    this.#counters = counters;
    this.dir = dir;
    this.name = name;
    this.#found = found;
  }

  get item(): Item | undefined {
    const own = this.dir.patch.get(this.name);
    return own === undefined ? this.#found.entry : (own ?? undefined);
  }

  /** null: the name is gone. */
  set(item: Item | null): void {
    const { dir, name } = this;
    const own = dir.patch.get(name);
    const was = own === undefined ? this.#found.exists : own !== null;
    const { size } = dir.patch;
    if (item === null && !this.#found.exists) dir.unset(name);
    else dir.set(name, item);
    dir.size += (item === null ? 0 : 1) - (was ? 1 : 0);
    this.#counters.patched += dir.patch.size - size;
    this.#countObjects();
    if (!(item instanceof OwnDirectory)) return;
    item.parent = dir;
    item.name = name;
  }

  #countObjects(): void {
    for (const [key, object] of this.#found.objects) {
      if (this.dir.rewritten.has(key)) continue;
      this.dir.rewritten.add(key);
      this.#counters.objectBytes += object.bytes.length;
    }
  }
}
