import type { ByteString } from '../../byte-string.ts';
import { loadBelow, type Source } from '../../trees/directory/source.ts';
import type { DirectoryObject } from '../../trees/format/directory-object.ts';
import type { Entry } from '../../trees/format/entry.ts';
import { type Key, NO_KEY } from '../../trees/format/keys.ts';

/** Where a name is, or would be, in the objects of a frozen directory. */
export class Found {
  /** The objects on the way to it, outermost first: a change of the name writes all of them anew. */
  readonly objects: readonly (readonly [Key, DirectoryObject])[];
  readonly #index: number;
  #entry: Entry | undefined;

  constructor(objects: Found['objects'], index: number) {
    this.objects = objects;
    this.#index = index;
  }

  get exists(): boolean {
    return this.#index >= 0;
  }

  get entry(): Entry | undefined {
    if (this.exists) this.#entry ??= this.objects.at(-1)![1].entry(this.#index);
    return this.#entry;
  }
}

const NOWHERE = new Found([], -1);

export function findIn(source: Source, directory: Key, name: ByteString): Found {
  if (directory === NO_KEY) return NOWHERE;
  let object = source.load(directory);
  const objects: [Key, DirectoryObject][] = [[directory, object]];
  while (object.level > 0) {
    const index = object.floor(name);
    const { key } = object.item(index);
    object = loadBelow(source, object, index);
    objects.push([key, object]);
  }
  return new Found(objects, object.find(name));
}
