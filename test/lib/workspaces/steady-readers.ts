import { expect } from 'vitest';
import type { WorkspaceFileSystem } from '../../../lib/workspaces/workspace-file-system.ts';
import type { Sandbox } from './sandbox.ts';

const DIRECTORY = 0o040000;
const TYPE = 0o170000;

interface Reader {
  cookie: number;
  readonly read: string[];
  /** The names, with their nodes, that were there all the time. */
  readonly steady: Map<string, number>;
}

/** Programs that list all directories of a sandbox, one name at a time. */
export class SteadyReaders {
  readonly #s: Sandbox;
  readonly #readers = new Map<number, Reader>();
  #fs: WorkspaceFileSystem;

  constructor(s: Sandbox) {
    this.#s = s;
    this.#fs = s.fs;
  }

  /** Called after each change: each reader gets one name. At the end it has had each that was there all the time once. */
  goOn(told: string): void {
    const { fs } = this.#s;
    // The next server has no readers yet.
    if (fs !== this.#fs) this.#readers.clear();
    this.#fs = fs;
    const seen = new Set<number>();
    this.#below('', seen, told);
    for (const dir of this.#readers.keys()) if (!seen.has(dir)) this.#readers.delete(dir);
  }

  #below(path: string, seen: Set<number>, told: string): void {
    const dir = this.#s.id(path);
    const now = new Map<string, number>();
    const below: string[] = [];
    seen.add(dir);
    // Before the whole listing, so that a reader that goes on is what makes a listing anew.
    const reader = this.#readers.get(dir);
    const next = reader === undefined ? undefined : this.#next(dir, reader);
    for (const name of this.#s.listId(dir)) {
      const at = path === '' ? name : `${path}/${name}`;
      const { nodeid, attr } = this.#s.lookup(at)!;
      now.set(name, nodeid);
      if ((attr.mode & TYPE) === DIRECTORY) below.push(at);
    }
    if (reader === undefined) this.#readers.set(dir, { cookie: 2, read: [], steady: now });
    else this.#check(dir, reader, now, next, told);
    for (const at of below) this.#below(at, seen, told);
  }

  #next(dir: number, reader: Reader): string | undefined {
    let found: string | undefined;
    this.#s.fs.readdir(this.#s.caller, dir, reader.cookie, false, (name, cookie) => {
      if (found !== undefined) return false;
      found = name;
      reader.cookie = cookie;
      return true;
    });
    return found;
  }

  #check(
    dir: number,
    { read, steady }: Reader,
    now: Map<string, number>,
    next: string | undefined,
    told: string,
  ): void {
    for (const [name, id] of steady) if (now.get(name) !== id) steady.delete(name);
    if (next !== undefined) {
      read.push(next);
      return;
    }
    this.#readers.delete(dir);
    const found = read.filter((name) => steady.has(name));
    expect(found.sort(), told).toEqual([...steady.keys()].sort());
  }
}
