import type { Disk } from '../disk/disk.ts';
import type { Key } from '../trees/format/keys.ts';
import { StagedBlobs } from './blobs/staged-blobs.ts';
import { OpenFiles } from './open-files.ts';
import { PackWriter } from './packs/pack-writer.ts';
import { type Adoptable, type WritablePacks, Writing } from './writing.ts';

/**
 * A writing in another thread than that of the store, with packs of its own. They are open in `tmp/`, and come to the others
 * sealed. Its large contents stay there. After its `sync` the writing of the store adopts both. It finds nothing but what it put.
 */
export class BulkWriting extends Writing implements Adoptable {
  readonly packs: readonly string[];
  readonly large: ReadonlyMap<Key, string>;

  constructor(disk: Disk, folder: string) {
    const packs: string[] = [];
    let losses = 0;
    const lost = (): void => {
      losses++;
    };
    const place = { disk, files: new OpenFiles(disk), folder: `${folder}/packs`, open: `${folder}/tmp` };
    const writer = new PackWriter(place, { sealed: (name) => packs.push(name), lost });
    const writable: WritablePacks = {
      has: () => false,
      append: (kind, key, payload) => writer.append(kind, key, payload),
      add: () => {},
      sync: () => {
        writer.finish();
        // One that could not be sealed is no one's.
        if (writer.open.size > 0) lost();
      },
    };
    const nothing = (): void => {};
    const blobs = new StagedBlobs(disk);
    super(
      {
        disk,
        tmp: `${folder}/tmp`,
        packs: writable,
        blobs,
        losses: () => losses,
        lost,
        used: nothing,
        adopted: nothing,
        ended: nothing,
      },
      'all',
    );
    this.packs = packs;
    this.large = blobs.files;
  }
}
