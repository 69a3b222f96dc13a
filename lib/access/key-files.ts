import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode } from '../linux/errno.ts';
import type { KeyRecord } from '../metadata/metadata.ts';

const NAME = /^([0-9a-z]{8})\.json$/;
/** Far more than the clock tick of any file system. */
const SETTLED_NS = 2_000_000_000n;
const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

/**
 * Keys that the operator created on the host, one file each, beside the metadata file. The server, which may be running,
 * moves them into its metadata. The files have no secret. Only users who can write the server's state can place a file.
 */
export class KeyFiles {
  readonly #directory: string;
  /** Ids of the files, as long as the directory has this time of modification. */
  #listed: { modified: bigint; ids: ReadonlySet<string> } | undefined;

  /** `dbPath`: the metadata file. */
  constructor(dbPath: string) {
    this.#directory = `${dbPath}.keys`;
  }

  /** Ids of all keys. */
  ids(): string[] {
    try {
      return readdirSync(this.#directory).flatMap((name) => NAME.exec(name)?.[1] ?? []);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return [];
      throw error;
    }
  }

  /**
   * Whether there is a file for this id. Costs one stat(2) as long as the directory is unchanged, because calls with
   * unknown keys may come in any number.
   */
  has(id: string): boolean {
    const modified = statSync(this.#directory, { bigint: true, throwIfNoEntry: false })?.mtimeNs;
    if (modified === undefined) return false;
    if (this.#listed?.modified === modified) return this.#listed.ids.has(id);
    const ids = new Set(this.ids());
    // A change right after the listing may have the same time, which is that of a clock tick.
    const settled = BigInt(Date.now()) * 1_000_000n - modified > SETTLED_NS;
    this.#listed = settled ? { modified, ids } : undefined;
    return ids.has(id);
  }

  /** undefined: there is no file for this id. Throws for a file that is not a key of this id, or of another user. */
  read(id: string): KeyRecord | undefined {
    let fd: number;
    try {
      fd = openSync(this.#path(id), O_RDONLY | O_NOFOLLOW);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
    try {
      const { uid } = fstatSync(fd);
      if (uid !== 0 && uid !== process.getuid?.()) throw new Error('the file belongs to another user');
      const record = JSON.parse(readFileSync(fd, 'utf8')) as Partial<KeyRecord>;
      if (record.id !== id || record.role !== 'admin' || !/^[0-9a-f]{64}$/.test(record.sha256 ?? '')) {
        throw new Error('the file is not a key');
      }
      return record as KeyRecord;
    } finally {
      closeSync(fd);
    }
  }

  /**
   * Durable on return, and complete when it becomes visible. Readable for the owner of the state directory, who runs the
   * server.
   */
  write(record: KeyRecord): void {
    const owner = statSync(dirname(this.#directory));
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    this.#inDirectory((directory) => fchownSync(directory, owner.uid, owner.gid));
    const temporary = join(this.#directory, `.${record.id}.tmp`);
    const fd = openSync(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      writeFileSync(fd, `${JSON.stringify(record)}\n`);
      fchownSync(fd, owner.uid, owner.gid);
      fsyncSync(fd);
      renameSync(temporary, this.#path(record.id));
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    } finally {
      closeSync(fd);
    }
    this.#inDirectory(fsyncSync);
  }

  /** Durable on return: a key that is revoked later must not come back after a power failure. */
  remove(id: string): void {
    try {
      rmSync(this.#path(id));
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return;
      throw error;
    }
    this.#inDirectory(fsyncSync);
  }

  #path(id: string): string {
    return join(this.#directory, `${id}.json`);
  }

  #inDirectory(task: (fd: number) => void): void {
    const fd = openSync(this.#directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    try {
      task(fd);
    } finally {
      closeSync(fd);
    }
  }
}
