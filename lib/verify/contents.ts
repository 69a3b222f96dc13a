import { crc32 } from 'node:zlib';
import { toText } from '../byte-string.ts';
import { DataFiles } from '../workspaces/delta/contents/data-files.ts';
import { LargeCopies } from '../workspaces/delta/contents/large-copies.ts';
import { placeOf, SMALL } from '../workspaces/delta/contents/slabs.ts';
import type { Inode } from '../workspaces/delta/index/inode.ts';
import type { InodeTable } from '../workspaces/delta/index/inode-table.ts';
import { pathOf } from '../workspaces/delta/index/path-of.ts';
import type { FrozenLayers } from '../workspaces/delta/layers/frozen-layers.ts';
import { layerPath } from '../workspaces/delta/layers/layer-path.ts';
import { type Report, reasonOf } from './report.ts';

/** The location of contents, and the damage found there. */
interface Result {
  where: string;
  what: string | undefined;
}

/**
 * Verifies the contents of files in deltas and layers. Those of frozen layers are read once, however many sandboxes
 * share them.
 */
export class Contents {
  readonly #root: string;
  readonly #frozen: FrozenLayers;
  readonly #files: DataFiles;
  readonly #report: Report;
  readonly #known = new Map<string, Result>();

  constructor(root: string, frozen: FrozenLayers, report: Report) {
    this.#root = root;
    this.#frozen = frozen;
    this.#files = new DataFiles(root, new LargeCopies());
    this.#report = report;
  }

  /** Verifies all files of the table except `left`. `top`: the layer that is written to, if any. */
  verify(table: InodeTable, owner: string, { top, left = [] }: { top?: string; left?: Iterable<number> }): void {
    const leftOut = new Set(left);
    for (const inode of table.found()) {
      if (inode.data === undefined || leftOut.has(inode.id)) continue;
      const { where, what } = this.#check(inode, top);
      if (what === undefined) continue;
      const path = toText(pathOf(table.get(inode.id)!));
      this.#report.damage(what, where, `${owner}, file ${JSON.stringify(path)}`);
    }
  }

  #check(inode: Inode, top: string | undefined): Result {
    const { layer, slot, id } = inode.data!;
    if (layer === top) return this.#look(inode, top);
    const key = `${layer} ${slot} ${id} ${inode.size} ${inode.expected} ${inode.lost}`;
    const known = this.#known.get(key) ?? this.#look(inode, top);
    this.#known.set(key, known);
    return known;
  }

  #look(inode: Inode, top: string | undefined): Result {
    if (inode.data!.slot >= 0) return this.#slot(inode);
    const { root, path } = this.#files.hostFile(inode.data!);
    const where = `${root}/${path}`;
    if (inode.lost) {
      const stat = this.#files.stat(inode.data!);
      return {
        where,
        what: stat ? `the data file has ${stat.size} bytes, not those recorded` : 'the data file is missing',
      };
    }
    if (!inode.hasFile) return { where, what: undefined };
    this.#count(false);
    const { expected = -1, size } = inode;
    if (inode.data!.layer === top && expected >= 0 && size < expected) {
      this.#report.note(`${where} has ${size} bytes and had ${expected}: it was cut by a program since, or is damaged`);
    }
    return { where, what: undefined };
  }

  #slot({ data, size, expected }: Inode): Result {
    const { layer, slot } = data!;
    const { path } = placeOf(layerPath(this.#root, layer), slot);
    const where = `${path}, slot ${slot}`;
    if (size === 0) return { where, what: undefined };
    this.#count(expected !== undefined);
    if (size > SMALL) return { where, what: `its record has ${size} bytes, more than a slot` };
    try {
      const bytes = Buffer.alloc(size);
      const done = this.#frozen.read(this.#root, layer, slot, 0, bytes);
      if (done < size) return { where, what: 'a part of the contents is missing' };
      const differs = expected !== undefined && crc32(bytes) !== expected;
      return { where, what: differs ? 'the contents do not match their checksum' : undefined };
    } catch (error) {
      return { where, what: `cannot be read: ${reasonOf(error)}` };
    }
  }

  #count(summed: boolean): void {
    this.#report.counts.contents++;
    if (!summed) this.#report.counts.unchecked++;
  }
}
