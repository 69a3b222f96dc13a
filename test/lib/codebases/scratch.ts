import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { StoredCodebases } from '../../../lib/codebases/codebases.ts';
import type { CodebaseThreads } from '../../../lib/codebases/options.ts';
import { IdMap } from '../../../lib/id-map.ts';
import type { OwnerLimitSource } from '../../../lib/limits/stored-limits.ts';
import { silentLog } from '../../../lib/log.ts';
import type { CodebaseRecord } from '../../../lib/metadata/metadata.ts';
import type { Transfers } from '../../../lib/transfers.ts';

/** Records that are durable at once; `fail` makes the next change fail as a full disk would. */
class FakeRecords {
  readonly map = new IdMap<CodebaseRecord>();
  fail: Error | undefined;

  get(id: string) {
    return this.map.get(id);
  }
  values() {
    return this.map.values();
  }
  newestFirst(before?: string) {
    return this.map.newestFirst(before);
  }
  get size() {
    return this.map.size;
  }
  ofOwner(ownerId: string) {
    return [...this.map.values()].filter(({ owner_id }) => owner_id === ownerId);
  }
  newestOf(ownerId: string, before?: string) {
    return [...this.map.newestFirst(before)].filter(({ owner_id }) => ownerId === '' || owner_id === ownerId);
  }
  async advance(from: CodebaseRecord, next: CodebaseRecord) {
    if (this.map.get(from.id) !== from) return false;
    await this.put(next);
    return true;
  }
  async put(record: CodebaseRecord) {
    this.#maybeFail();
    this.map.set(record.id, record);
  }
  async remove(id: string) {
    this.#maybeFail();
    this.map.delete(id);
  }
  #maybeFail() {
    const { fail } = this;
    this.fail = undefined;
    if (fail) throw fail;
  }
}

/** A storage directory of its own with everything around it faked. */
export class Scratch {
  readonly path = mkdtempSync(join(tmpdir(), 'codebases-'));
  readonly records = new FakeRecords();
  /** What the watcher was told, like `changing a,a/b`. */
  readonly told: string[] = [];
  sandboxes: string[] = [];
  /** What the watcher was told last to be removed. */
  removing: string[] = [];
  limits = { maxBytes: 0, maxFiles: 0 };
  owners: OwnerLimitSource | undefined;
  transfers: Transfers | undefined;
  archives: CodebaseThreads | undefined;
  onRebase: () => Promise<void> | void = () => {};
  onChanging: () => Promise<void> | void = () => {};
  onChanged: () => void = () => {};
  onRemoving: () => void = () => {};
  codebases!: StoredCodebases;

  /**
   * Also a restart of the server: everything but the disk and the records is new. `verified`: the totals were verified since,
   * which a server does in the background.
   */
  async open({ verified = true } = {}): Promise<StoredCodebases> {
    this.codebases = await StoredCodebases.open({
      path: join(this.path, 'codebases'),
      records: this.records,
      limits: this.limits,
      ...(this.owners && { owners: this.owners }),
      ...(this.archives && { archives: this.archives }),
      ...(this.transfers && { transfers: this.transfers }),
      log: silentLog,
    });
    await this.codebases.clean();
    this.codebases.connect({
      usedBy: () => this.sandboxes,
      watcher: {
        baseChanging: async (_, paths) => {
          this.told.push(`changing ${paths}`);
          await this.onChanging();
        },
        baseChanged: async (_, paths) => {
          this.told.push(`changed ${paths}`);
          this.onChanged();
        },
        baseRemoving: async (_, paths) => {
          this.removing = paths.map(String);
          this.onRemoving();
        },
      },
      rebase: async ({ id }, stage, resumed) => {
        this.told.push(`rebase ${id === '' ? 'unknown' : 'commit'} ${stage}${resumed ? ' resumed' : ''}`);
        await this.onRebase();
      },
      certain: async (intent) => {
        this.told.push(`certain ${intent}`);
      },
    });
    await this.codebases.finishCommits();
    if (verified) await this.verifyTotals();
    return this.codebases;
  }

  async codebase(): Promise<string> {
    return (await this.codebases.create({ name: 'test', owner_id: 'me' })).id;
  }

  files(id: string): string {
    return join(this.path, 'codebases', id, 'files');
  }

  incoming(id: string): string[] {
    return readdirSync(join(this.path, 'codebases', id, 'tmp'));
  }

  /** Everything below the storage, paths relative to it. */
  everything(): string[] {
    return readdirSync(join(this.path, 'codebases'), { recursive: true }).map(String).toSorted();
  }

  upload(id: string, path: string, content = path) {
    return this.codebases.upload(id, path, chunks(content));
  }

  async text(id: string, path: string): Promise<string> {
    const file = await this.codebases.open(id, path);
    try {
      return (await buffer(file.read())).toString();
    } finally {
      await file.close();
    }
  }

  /** Call after files were added by hand. */
  async verifyTotals(): Promise<void> {
    await this.codebases.verifier.verifyAll(false);
  }

  async counted(id: string): Promise<[number, number]> {
    const { file_count, total_size } = await this.codebases.get(id);
    return [file_count, total_size];
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

export async function* chunks(...contents: (string | Uint8Array | Error)[]): AsyncGenerator<Uint8Array> {
  for (const content of contents) {
    if (content instanceof Error) throw content;
    yield typeof content === 'string' ? Buffer.from(content) : content;
  }
}

/** The error code a promise rejects with; 'fulfilled' when it does not. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'fulfilled',
    (error: { code?: string }) => error.code ?? String(error),
  );
}
