import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '../../../lib/ids.ts';
import { frameOf } from '../../../lib/metadata/frames.ts';
import type { CodebaseRecord, SandboxRecord } from '../../../lib/metadata/metadata.ts';
import { snapshotPieces } from '../../../lib/metadata/snapshot.ts';
import { emptyState } from '../../../lib/metadata/state.ts';
import { verifyState } from '../../../lib/verify/verify-state.ts';
import { Sandbox } from '../workspaces/sandbox.ts';

export const LARGE = 'l'.repeat(70_000);

export function storageIn(directory: string) {
  return {
    codebasePath: join(directory, 'codebases'),
    mountPath: join(directory, 'mounts'),
    dbPath: join(directory, 'metadata.json'),
  };
}

/** Returns every file and directory with the properties that a write changes: inode, mode, size, mtime and content. */
export function fingerprint(directory: string): string[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();
  return ['', ...names].map((name) => {
    const path = join(directory, name);
    const { ino, mode, size, mtimeNs, ctimeNs } = lstatSync(path, { bigint: true });
    const sum = (mode & 0o170000n) === 0o100000n ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
    return [name, ino, mode, size, mtimeNs, ctimeNs, sum].join(' ');
  });
}

export async function verified(directory: string): Promise<{ damaged: string[]; notes: string[]; last: string }> {
  const report = await verifyState(storageIn(directory));
  const lines = [...report.lines()];
  const starting = (start: string) => lines.filter((line) => line.startsWith(start));
  return { damaged: starting('damaged: '), notes: starting('note: '), last: lines.at(-1)! };
}

/** Creates a codebase, a sandbox with a checkpoint, and a fork with its own changes, by this version, and closes them. */
export class State {
  readonly s = new Sandbox();
  readonly home = this.s.home;
  readonly codebase = newId('cb');
  readonly sandbox = newId('sb');
  readonly fork = newId('sb');
  /** The frozen layer. */
  readonly layer: string;
  readonly codebases: Partial<CodebaseRecord>[] = [{ id: this.codebase, name: 'c', owner_id: 'o' }];
  readonly sandboxes: Partial<SandboxRecord>[];

  constructor() {
    const { s, home } = this;
    const base = join(home, 'codebases', this.codebase, 'files');
    const layers = join(home, 'mounts/layers');
    for (const path of [base, layers, join(home, 'mounts/deltas')]) mkdirSync(path, { recursive: true });
    const specOf = (id: string) => ({ ...s.spec, id, base, layers, delta: join(home, 'mounts/deltas', id) });
    s.goOn(specOf(this.sandbox));
    s.mkdir('d');
    s.create('d/small', 'small contents');
    s.create('large', LARGE);
    this.layer = s.fs.freeze(this.sandbox).layer;
    s.create('later', 'contents of later');
    s.create('large later', LARGE);
    s.goOn({ ...specOf(this.fork), origin: this.layer });
    s.write('d/small', 'forked contents');
    s.fs.detach(this.fork);
    const record = { codebase_id: this.codebase, owner_id: 'o', status: 'SANDBOX_RUNNING', runtime: 'RUNTIME_BWRAP' };
    this.sandboxes = [
      { ...record, id: this.sandbox, changed: true, checkpoints: [{ name: 'cp', layer: this.layer }] },
      { ...record, id: this.fork, changed: true, origin: this.layer },
    ] as Partial<SandboxRecord>[];
    this.writeMetadata();
  }

  writeMetadata(): void {
    const mapOf = (records: readonly { id?: string }[]) => new Map(records.map((record) => [record.id!, record]));
    const state = { ...emptyState(), codebases: mapOf(this.codebases), sandboxes: mapOf(this.sandboxes) };
    const text = Buffer.concat([...snapshotPieces(state as never, { log: 1, sequence: 0 })]);
    for (const name of ['metadata.json', 'metadata.json.bak']) writeFileSync(join(this.home, name), text);
    const again = this.codebases.map((record) => ['codebases', record]);
    const log = [frameOf({ sequence: 0, payload: { log: 1 } }), frameOf({ sequence: 1, payload: again })];
    writeFileSync(join(this.home, 'metadata.json.log.1'), Buffer.concat(log));
  }

  /** Returns the host files whose path matches `end`. */
  find(end: RegExp): string[] {
    const names = readdirSync(this.home, { recursive: true, encoding: 'utf8' }).map((name) => join(this.home, name));
    return names.filter((path) => end.test(path) && statSync(path).isFile()).sort();
  }

  journal(id: string): string {
    return join(this.home, 'mounts/deltas', id, 'journal');
  }
}

export function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at]! ^= 4;
  writeFileSync(path, bytes);
}
