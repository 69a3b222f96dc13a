import type { Seed } from '../../trees/directory/name-hash.ts';
import { BlobFiles } from '../blobs/blob-files.ts';
import { ObjectReads, type StoreParts } from '../object-reads.ts';
import { readStoreFile } from '../store-file.ts';
import { ReadPacks } from './read-packs.ts';

/**
 * A store that another thread or process writes to. Each object is found that a durable root names while garbage collection
 * knows of that root, whatever the writer does meanwhile, and after it was killed.
 */
export class StoreReader extends ObjectReads {
  readonly number: bigint;
  /** For all trees of the codebase, also in sandboxes. */
  readonly seed: Seed;
  readonly #packs: ReadPacks;

  /** Throws a FormatError for a folder that is no store of this format. */
  constructor(parts: Omit<StoreParts, 'sealAt'>, folder: string) {
    const { number, seed } = readStoreFile(parts.disk, folder);
    const packs = new ReadPacks({ ...parts, folder: `${folder}/packs`, open: `${folder}/packs` });
    super(parts, packs, new BlobFiles(parts.disk, `${folder}/blobs`));
    this.number = number;
    this.seed = seed;
    this.#packs = packs;
  }

  /**
   * Takes what has come, and gives up files that are gone, whose space is held else. Look-ups do it by themselves when they must,
   * but in one step: a reader that begins does it in many.
   */
  refresh(): Generator<void, void, void> {
    return this.#packs.refresh();
  }
}
