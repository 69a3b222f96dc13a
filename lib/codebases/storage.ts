import { readdirSync } from 'node:fs';
import { mkdir, readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../host-tree/remove-tree.ts';
import { isId } from '../ids.ts';
import { errorCode, ignoreAbsent } from '../linux/errno.ts';
import type { Log } from '../log.ts';
import { removeLater } from './archive/import-archive.ts';
import { FILES, INCOMING } from './codebase-tree.ts';
import { JOURNAL, STAGING } from './commit-journal.ts';
import { SPREAD } from './commits/spread.ts';
import { DeletionMarks, markedId, syncFolder } from './deletion-marks.ts';
import { filesLost } from './resolve-path.ts';

/** What a commit leaves until its end. */
const TRACES = [JOURNAL, `${JOURNAL}.new`, STAGING];

/**
 * `storage.codebase_path`: a directory for each codebase with `files` and, on the same file system, `tmp`. A deletion
 * is marked first. A directory with neither record nor mark is never removed, because the records may be the wrong
 * part.
 */
export class Storage {
  readonly #path: string;
  readonly #marks: DeletionMarks;
  /** Codebases whose `tmp` may have what a crash left. */
  readonly #unclean = new Set<string>();
  readonly #cleaning = new Map<string, Promise<void>>();

  constructor(path: string) {
    this.#path = path;
    this.#marks = new DeletionMarks(path);
  }

  /** Host path of a codebase's directory, which may be absent. */
  directory(id: string): string {
    return join(this.#path, id);
  }

  /** Durable when it resolves. */
  async make(id: string): Promise<void> {
    await mkdir(this.directory(id), { mode: 0o755 });
    await mkdir(join(this.directory(id), FILES), { mode: 0o755 });
    await mkdir(join(this.directory(id), INCOMING), { mode: 0o700 });
    await syncFolder(this.directory(id));
    await syncFolder(this.#path);
  }

  /** From here on `recover` removes the codebase if it has no record. Durable when it resolves. */
  async markDeleting(id: string): Promise<void> {
    await this.#marks.make(id);
  }

  /** Removes the mark of a deletion in progress, if there is one. */
  async unmarkDeleting(id: string): Promise<void> {
    await this.#marks.remove(id);
  }

  /** Removes a codebase's directory with everything in it, then the mark. May be repeated after a failure. */
  async remove(id: string): Promise<void> {
    // Else `clean` would make a part of it anew.
    this.#unclean.delete(id);
    await this.#cleaning.get(id);
    await removeTree(this.directory(id));
    await this.unmarkDeleting(id);
  }

  /**
   * Creates the directory if absent, and repairs the effects of a crash. `known`: whether the codebase has a record. Must
   * be followed by `clean` for each codebase, before it is changed.
   */
  async recover(known: (id: string) => boolean, log: Log): Promise<void> {
    await mkdir(this.#path, { recursive: true, mode: 0o711 });
    const names = new Set(await readdir(this.#path));
    for (const name of names) {
      if (name.startsWith(SPREAD)) await rmdir(join(this.#path, name)).catch(() => undefined);
      const marked = markedId(name);
      if (marked === undefined) continue;
      if (known(marked)) await this.unmarkDeleting(marked);
      else {
        await this.remove(marked);
        names.delete(marked);
      }
    }
    for (const id of names) {
      if (!isId('cb', id)) continue;
      if (known(id)) this.#unclean.add(id);
      else await this.#removeUnused(id, log);
    }
  }

  /** Removes what a crash left of uploads to the codebase, once. Never rejects. */
  async clean(id: string, log: Log): Promise<void> {
    if (!this.#unclean.has(id)) return;
    const cleaning = this.#cleaning.get(id) ?? this.#clean(id, log);
    this.#cleaning.set(id, cleaning);
    await cleaning;
  }

  /** Removes what a crash left of uploads to all codebases, one after another, until `ended`. Never rejects. */
  async cleanAll(log: Log, ended: () => boolean): Promise<void> {
    for (const id of this.#unclean) if (!ended()) await this.clean(id, log);
  }

  async #clean(id: string, log: Log): Promise<void> {
    await this.#emptyIncoming(id, log).catch((err: unknown) =>
      log.error('remains of uploads to a codebase could not be removed', { codebase_id: id, err }),
    );
    this.#unclean.delete(id);
    this.#cleaning.delete(id);
  }

  /** Throws DATA_LOSS if the codebase's files are not there; returns whether there are traces of a commit. */
  async look(id: string): Promise<boolean> {
    const names = await readdir(this.directory(id)).catch((error) => {
      throw errorCode(error) === 'ENOENT' ? filesLost(error) : error;
    });
    if (!names.includes(FILES)) throw filesLost(undefined);
    return names.some((name) => TRACES.includes(name));
  }

  /**
   * Whether there are traces of a commit, finished or not; true if this cannot be determined. Synchronous, because a start
   * looks at every codebase: a trip to another thread for each would take five times as long.
   */
  hasCommit(id: string): boolean {
    try {
      const names = readdirSync(this.directory(id));
      return names.some((name) => TRACES.includes(name));
    } catch {
      return true;
    }
  }

  async #emptyIncoming(id: string, log: Log): Promise<void> {
    const incoming = join(this.directory(id), INCOMING);
    await mkdir(incoming, { recursive: true, mode: 0o700 });
    for (const entry of await readdir(incoming, { withFileTypes: true })) {
      // An import may have left a million files, which the start does not wait for.
      if (entry.isDirectory()) removeLater(join(incoming, entry.name), log);
      else await removeTree(join(incoming, entry.name));
    }
  }

  /** A codebase whose creation was interrupted by a crash has no files yet. */
  async #removeUnused(id: string, log: Log): Promise<void> {
    try {
      for (const name of [FILES, INCOMING]) await rmdir(join(this.directory(id), name)).catch(ignoreAbsent);
      await rmdir(this.directory(id));
    } catch (error) {
      log.warn('codebase directory without a record is kept', {
        directory: this.directory(id),
        err: error,
      });
    }
  }
}
