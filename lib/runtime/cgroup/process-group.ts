import { closeSync, existsSync, mkdirSync, openSync, readFileSync, readSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { isOutOfDescriptors } from '../../descriptors.ts';

/** Rounds of the slow kill: each kills all that is listed; frozen processes cannot fork between two rounds. */
const KILL_ROUNDS = 50;
const ROUND_MS = 2;
/** About a millisecond. */
const KILLS_AT_ONCE = 512;
/** Room for the beginning of a list: two pids of whatever length. */
const TWO_PIDS = 32;

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
  } catch (error) {
    // It may well be there: who calls gives a descriptor back and asks again.
    if (isOutOfDescriptors(error)) throw error;
    return false;
  }
}

/**
 * Everything in `dir` and below it gets SIGKILL: cgroup.kill (Linux 5.14), at once; else freeze, kill each, thaw, in
 * pieces. Throws only where there is no descriptor left. `children` names the cgroups below `dir`.
 */
export function killTree(dir: string, children: () => readonly string[] = () => []): void | Promise<void> {
  if (put(dir, 'cgroup.kill', '1')) return;
  return killEach([dir, ...children().map((child) => join(dir, child))]);
}

async function killEach(dirs: readonly string[]): Promise<void> {
  const v2 = dirs.some((each) => existsSync(join(each, 'cgroup.freeze')));
  const freeze = (frozen: boolean) => {
    for (const each of dirs) {
      if (v2) put(each, 'cgroup.freeze', frozen ? '1' : '0');
      else put(each, 'freezer.state', frozen ? 'FROZEN' : 'THAWED');
    }
  };
  for (let round = 0; round < KILL_ROUNDS; round++) {
    try {
      if (round === 0) freeze(true);
      const pids = dirs.flatMap((each) => (existsSync(each) ? readPids(each) : []));
      for (const [index, pid] of pids.entries()) {
        signal(pid);
        if (index % KILLS_AT_ONCE === KILLS_AT_ONCE - 1) await setImmediate();
      }
      // A v1 freezer holds SIGKILL back until it thaws.
      freeze(false);
      if (pids.length === 0) return;
    } catch {
      // No descriptor: perhaps in a moment.
    }
    await delay(ROUND_MS);
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
    try {
      if (existsSync(join(dir, 'cgroup.events'))) this.#procs = openSync(join(dir, 'cgroup.procs'), 'r');
    } catch (error) {
      this.remove();
      throw error;
    }
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

  /** Reads no more of the list than tells that there is another, however long it is. */
  holdsOnly(pid: number): boolean {
    if (this.#removed) return true;
    const fd = this.#procs ?? openSync(join(this.#dir, 'cgroup.procs'), 'r');
    try {
      const buffer = Buffer.allocUnsafe(TWO_PIDS);
      const text = buffer.toString('latin1', 0, readSync(fd, buffer, 0, buffer.length, 0));
      return parsePids(text).every((each) => each === pid);
    } finally {
      if (fd !== this.#procs) closeSync(fd);
    }
  }

  kill(): void | Promise<void> {
    if (!this.#removed) return killTree(this.#dir);
  }

  /** False while something lives in it. Never throws. */
  remove(): boolean {
    const procs = this.#procs;
    this.#procs = undefined;
    this.#removed = true;
    try {
      if (procs !== undefined) closeSync(procs);
      rmdirSync(this.#dir);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ENOENT';
    }
    return true;
  }
}
