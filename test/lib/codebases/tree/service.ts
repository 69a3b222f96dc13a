import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Unzstd } from '../../../../lib/archive/unzstd.ts';
import { StoresHere } from '../../../../lib/codebases/tree/stores/stores-here.ts';
import type { HeadKeeper, TreeStores } from '../../../../lib/codebases/tree/stores/tree-stores.ts';
import { TreeCodebases } from '../../../../lib/codebases/tree/tree-codebases.ts';
import type { Disk } from '../../../../lib/disk/disk.ts';
import { hostDisk } from '../../../../lib/disk/host-disk.ts';
import type { OwnerLimitSource } from '../../../../lib/limits/stored-limits.ts';
import { silentLog } from '../../../../lib/log.ts';
import type { Metadata } from '../../../../lib/metadata/metadata.ts';
import { openMetadata } from '../../../../lib/metadata/store.ts';
import { inSameThread } from '../../../../lib/threads/same-thread.ts';
import { chunks } from '../scratch.ts';

/** The service of codebases on trees, on a disk and metadata of its own, in this thread. */
export class ServiceScratch {
  readonly path: string;
  readonly folder: string;
  sandboxes: string[] = [];
  limits = { maxBytes: 0, maxFiles: 0 };
  owners: OwnerLimitSource | undefined;
  disk: Disk = hostDisk;
  /** What the codebases get; absent: those of this thread. */
  makeStores = (keeper: HeadKeeper): TreeStores =>
    new StoresHere({ path: this.folder, limits: this.limits, reserve: 0 }, keeper, this.disk);
  metadata!: Metadata;
  readonly #opened: Metadata[] = [];
  codebases!: TreeCodebases;

  constructor(path = mkdtempSync(join(tmpdir(), 'tree-codebases-'))) {
    this.path = path;
    this.folder = join(path, 'codebases');
  }

  /** Also a start after a crash: nothing is ended before. */
  async open(): Promise<TreeCodebases> {
    this.metadata = await openMetadata(join(this.path, 'db.json'), silentLog);
    this.#opened.push(this.metadata);
    this.codebases = await TreeCodebases.open({
      path: this.folder,
      records: this.metadata.codebases,
      stores: (keeper) => this.makeStores(keeper),
      unzstd: inSameThread(() => new Unzstd()),
      ...(this.owners && { owners: this.owners }),
      log: silentLog,
    });
    this.codebases.connect({ usedBy: () => this.sandboxes });
    return this.codebases;
  }

  async create(owner_id = 'me'): Promise<string> {
    return (await this.codebases.create({ name: 'test', owner_id })).id;
  }

  upload(id: string, path: string, content: string | Uint8Array = path) {
    return this.codebases.upload(id, path, chunks(content));
  }

  async text(id: string, path: string, range?: { start: number; end: number }): Promise<string> {
    const file = await this.codebases.open(id, path);
    try {
      return (await buffer(file.read(range))).toString();
    } finally {
      await file.close();
    }
  }

  async list(id: string): Promise<string[]> {
    const request = { path: '', recursive: true, page_size: 1000, page_token: '' };
    return (await this.codebases.listFiles(id, request)).files.map(({ path }) => path);
  }

  async export(id: string, path = ''): Promise<Buffer> {
    return buffer(await this.codebases.exportArchive(id, path));
  }

  /** Names in the folder of all codebases. */
  get names(): string[] {
    return readdirSync(this.folder).sort();
  }

  /** What is being written of a codebase. */
  unfinished(id: string): string[] {
    return readdirSync(join(this.folder, id, 'tmp'));
  }

  async remove(): Promise<void> {
    await this.codebases.close();
    for (const metadata of this.#opened) await metadata.close();
    rmSync(this.path, { recursive: true, force: true });
  }
}
