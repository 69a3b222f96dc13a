import { closeSync, existsSync, mkdirSync, openSync, readFileSync, readSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Rounds of the slow kill: each kills all that is listed; frozen processes cannot fork between two rounds. */
const KILL_ROUNDS = 50;

export function readPids(dir: string): number[] {
  return parsePids(readFileSync(join(dir, 'cgroup.procs'), 'latin1'));
}

/** A pid of 0 is a process outside this pid namespace: nothing this server may signal. */
const parsePids = (text: string) =>
  text
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0);

/** ESRCH and the like: a process that went by itself needs no kill. */
function signal(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {}
}

function put(dir: string, file: string, value: string): boolean {
  try {
    writeFileSync(join(dir, file), value, { flag: 'r+' });
    return true;
  } catch {
    return false;
  }
}

/** Everything in `dir` and below it gets SIGKILL: cgroup.kill (Linux 5.14), else freeze, kill each, thaw. */
export function killTree(dir: string, children: readonly string[] = []): void {
  if (put(dir, 'cgroup.kill', '1')) return;
  const v2 = existsSync(join(dir, 'cgroup.freeze'));
  const all = [dir, ...children.map((child) => join(dir, child))];
  for (const each of all) v2 ? put(each, 'cgroup.freeze', '1') : put(each, 'freezer.state', 'FROZEN');
  for (let round = 0; round < KILL_ROUNDS; round++) {
    const pids = all.flatMap((each) => (existsSync(each) ? readPids(each) : []));
    if (pids.length === 0) break;
    pids.forEach(signal);
    // A v1 freezer holds SIGKILL back until it thaws.
    for (const each of all) v2 ? put(each, 'cgroup.freeze', '0') : put(each, 'freezer.state', 'THAWED');
  }
}

/**
 * A cgroup of one runner. In v2 its list is kept open: reading it again by position costs a fifth of opening it. In v1
 * what is read again by the same descriptor within a second is the old list (cgroup_pidlist_start in the kernel's
 * cgroup-v1.c), so it is opened each time.
 */
export class CgroupProcessGroup {
  readonly #dir: string;
  readonly #entries: readonly string[];
  /** v2, until it is removed. */
  #procs: number | undefined;
  #removed = false;

  /** `entries`: further cgroup.procs files that a member must also be written to (limits of commands). */
  constructor(dir: string, entries: readonly string[]) {
    mkdirSync(dir);
    this.#dir = dir;
    this.#entries = [join(dir, 'cgroup.procs'), ...entries];
    if (existsSync(join(dir, 'cgroup.events'))) this.#procs = openSync(join(dir, 'cgroup.procs'), 'r');
  }

  add(pid: number): void {
    for (const file of this.#entries) writeFileSync(file, String(pid), { flag: 'r+' });
  }

  pids(): number[] {
    if (this.#removed) return [];
    if (this.#procs === undefined) return readPids(this.#dir);
    const buffer = Buffer.allocUnsafe(4096);
    let text = '';
    for (let read = -1; read !== 0; text += buffer.toString('latin1', 0, Math.max(read, 0))) {
      read = readSync(this.#procs, buffer, 0, buffer.length, text.length);
    }
    return parsePids(text);
  }

  kill(): void {
    killTree(this.#dir);
  }

  /** False while something lives in it. */
  remove(): boolean {
    if (this.#procs !== undefined) closeSync(this.#procs);
    this.#procs = undefined;
    this.#removed = true;
    try {
      rmdirSync(this.#dir);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ENOENT';
    }
    return true;
  }
}
