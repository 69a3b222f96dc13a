import type { CodebaseLimits } from '../../../../lib/codebases/quota.ts';
import type { TreeImport } from '../../../../lib/codebases/tree/archive/tree-import.ts';
import { firstHead, storeFirst } from '../../../../lib/codebases/tree/create-codebase.ts';
import type { Head, Heads } from '../../../../lib/codebases/tree/head.ts';
import { inUnits } from '../../../../lib/codebases/tree/in-units.ts';
import { TreeCodebase } from '../../../../lib/codebases/tree/tree-codebase.ts';
import { TreeQuota } from '../../../../lib/codebases/tree/tree-quota.ts';
import type { ImportMode } from '../../../../lib/field-values.ts';
import type { ObjectStore } from '../../../../lib/store/object-store.ts';
import { SimulatedDisk } from '../../disk/simulated-disk.ts';
import { newStore, reopened } from '../../store/stores.ts';

/** The head in memory: what is durable of it is what `read` answers. */
class MemoryHeads implements Heads {
  head: Head | undefined;
  moves = 0;
  /** Called before the head moves. */
  onAdvance: () => Promise<void> | void = () => {};
  /** Called when it is durable, and nobody knows. */
  afterAdvance: () => void = () => {};

  read(): Head | undefined {
    return this.head;
  }

  async advance(from: Head, to: Head): Promise<boolean> {
    await this.onAdvance();
    if (this.head !== from) return false;
    this.head = to;
    this.moves++;
    this.afterAdvance();
    return true;
  }
}

const NO_SHARE = {
  isLimited: () => false,
  room: () => Number.POSITIVE_INFINITY,
  refusal: () => undefined,
  reserve: () => {},
  release: () => {},
};
const ANY_ROOM = { bytes: Number.POSITIVE_INFINITY, admitting: () => () => {} };
export const START = 1_700_000_000_000;

/** A codebase on a disk in memory. The clock stands still unless a test moves it. */
export class TreeScratch {
  readonly disk: SimulatedDisk;
  readonly heads = new MemoryHeads();
  now = START;
  limits: CodebaseLimits = { maxBytes: 0, maxFiles: 0 };
  share: ConstructorParameters<typeof TreeQuota>[1] = NO_SHARE;
  store!: ObjectStore;
  codebase!: TreeCodebase;

  constructor(disk = new SimulatedDisk(), head?: Head) {
    this.disk = disk;
    if (head === undefined) {
      this.store = newStore(disk);
      this.heads.head = firstHead(this.store.number, this.now);
      storeFirst(this.store, this.heads.head);
    } else {
      this.store = reopened(disk);
      this.heads.head = head;
    }
    this.open();
  }

  /** With the limits as they are now. */
  open(): TreeCodebase {
    this.codebase = new TreeCodebase({
      id: 'cb_test',
      store: this.store,
      disk: this.disk,
      heads: this.heads,
      quota: new TreeQuota(this.limits, this.share, ANY_ROOM),
      run: inUnits,
      now: () => this.now,
    });
    return this.codebase;
  }

  get counted(): [files: number, bytes: number] {
    const { files, bytes } = this.codebase.head.root.totals;
    return [files, bytes];
  }

  async put(path: string, contents: string | Uint8Array = path, options: Parameters<TreeCodebase['upload']>[1] = {}) {
    const upload = this.codebase.upload(path, options);
    try {
      if (contents.length > 0) upload.write(Buffer.from(contents));
      return await upload.end();
    } finally {
      upload.drop();
    }
  }

  async import(
    archive: Uint8Array,
    mode: ImportMode = 'merge',
    onlyAt = '',
  ): Promise<Awaited<ReturnType<TreeImport['finish']>>> {
    const importing = this.codebase.import();
    try {
      for (let at = 0; at < archive.length; at += 10_000) await importing.feed(archive.subarray(at, at + 10_000));
      return await importing.finish(mode, onlyAt);
    } finally {
      importing.drop();
    }
  }

  export(path = ''): Buffer {
    const exporting = this.codebase.export(path);
    const parts: Uint8Array[] = [];
    for (let part = exporting.next(); part !== undefined; part = exporting.next()) parts.push(part);
    exporting.close();
    return Buffer.concat(parts);
  }

  text(path: string): string {
    const entry = this.codebase.file(path);
    const reader = this.codebase.reader(entry);
    try {
      return reader.read(entry.size).toString();
    } finally {
      reader.close();
    }
  }

  list(path = '', recursive = true, page_size = 1000): string[] {
    const paths: string[] = [];
    let page_token = '';
    do {
      const page = this.codebase.list({ path, recursive, page_size, page_token });
      paths.push(...page.files.map((file) => file.path));
      page_token = page.next_page_token;
    } while (page_token !== '');
    return paths;
  }
}

/** The error code a promise rejects with, or a call throws; 'fulfilled' when it does not. */
export async function codeOf(call: () => unknown): Promise<string> {
  try {
    await call();
    return 'fulfilled';
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}
