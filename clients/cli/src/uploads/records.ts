import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Found } from 'paddock-sandbox/local';
import { startTimeOf } from '../local/record.ts';
import type { Snapshot } from './difference.ts';

/** What a codebase has. */
export interface Upload {
  revision: string;
  snapshot: Snapshot;
}

const NAME = /^([0-9a-f]{32})\.(cb_[0-9A-Za-z]+)\.(?:ready|(\d+)-(\d+))$/;

type Row = [string, Found['type'], number, number, number, number, number, string];

/**
 * Records of the codebases that runs leave for the next run of the same directory. The name of a record says who has it:
 * nobody, or one process. To take it is to rename it, so no two runs have one codebase. A record is trusted only if its
 * process gave it back at its end.
 */
export class UploadRecords {
  readonly #directory: string;

  /** `state`: directory of the local server, whose codebases they are. */
  constructor(state: string) {
    this.#directory = join(state, 'uploads');
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
  }

  /** The one of this directory that was used last; undefined: there is none that nobody has. */
  take(key: string): UploadRecord | undefined {
    for (const { name, parts } of this.#newestFirst()) {
      const record = parts.key === key && parts.pid === undefined ? this.#rename(name) : undefined;
      if (record) return record;
    }
    return undefined;
  }

  /** A record of a codebase that has nothing yet. */
  begin(key: string, codebaseId: string): UploadRecord {
    const record = new UploadRecord(this.#directory, key, codebaseId);
    record.clear();
    return record;
  }

  /** Takes those that nobody has beyond the newest `most` or older than `maxAge`, and those of processes that were killed. */
  *takeOld(most: number, maxAge: number): Generator<UploadRecord, void, void> {
    let count = 0;
    for (const { name, parts, usedAt } of this.#newestFirst()) {
      const isFree = parts.pid === undefined;
      if (isFree && ++count <= most && Date.now() - usedAt < maxAge) continue;
      if (!isFree && startTimeOf(Number(parts.pid)) === parts.startedAt) continue;
      const record = this.#rename(name);
      if (record) yield record;
    }
  }

  #newestFirst() {
    const all = readdirSync(this.#directory).flatMap((name) => {
      const [, key, codebaseId, pid, startedAt] = NAME.exec(name) ?? [];
      const stats = key === undefined ? undefined : statSync(join(this.#directory, name), { throwIfNoEntry: false });
      return stats ? [{ name, parts: { key, codebaseId, pid, startedAt }, usedAt: stats.mtimeMs }] : [];
    });
    return all.sort((a, b) => b.usedAt - a.usedAt);
  }

  /** undefined: another process was first. */
  #rename(name: string): UploadRecord | undefined {
    const [, key, codebaseId] = NAME.exec(name)!;
    const record = new UploadRecord(this.#directory, key!, codebaseId!);
    try {
      renameSync(join(this.#directory, name), record.path);
      return record;
    } catch {
      return undefined;
    }
  }
}

/** A record that this process has. */
export class UploadRecord {
  readonly codebaseId: string;
  readonly path: string;
  readonly #ready: string;

  constructor(directory: string, key: string, codebaseId: string) {
    this.codebaseId = codebaseId;
    this.path = join(directory, `${key}.${codebaseId}.${process.pid}-${startTimeOf(process.pid)}`);
    this.#ready = join(directory, `${key}.${codebaseId}.ready`);
  }

  /** undefined: what the codebase has is not known. */
  read(): Upload | undefined {
    const stored = parsed(this.path);
    if (stored === undefined) return undefined;
    const { revision, at, rows } = stored;
    const found = new Map<string, Found>();
    for (const [path, type, mode, size, mtimeMs, ctimeMs, ino, target] of rows)
      found.set(path, { path, type, mode, size, mtimeMs, ctimeMs, ino, target });
    return { revision, snapshot: { at, found } };
  }

  /** Call before the codebase is changed: what it has is not known until `write`. */
  clear(): void {
    writeFileSync(this.path, '', { mode: 0o600 });
  }

  write({ revision, snapshot: { at, found } }: Upload): void {
    const rows = Array.from(found.values(), rowOf);
    writeFileSync(this.path, JSON.stringify({ revision, at, rows }), { mode: 0o600 });
  }

  /** Nobody has it any more; the next run may take it. */
  giveBack(): void {
    const now = new Date();
    utimesSync(this.path, now, now);
    renameSync(this.path, this.#ready);
  }

  /** The codebase is not one of these any more. */
  forget(): void {
    rmSync(this.path, { force: true });
  }
}

function rowOf({ path, type, mode, size, mtimeMs, ctimeMs, ino, target }: Found): Row {
  return [path, type, mode, size, mtimeMs, ctimeMs, ino, target];
}

/** undefined: it was not written to its end. */
function parsed(path: string): { revision: string; at: number; rows: Row[] } | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Of a directory, and of what decides which of its files are sent. */
export const keyOf = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
