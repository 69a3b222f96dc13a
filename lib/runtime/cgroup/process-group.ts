import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmdirSync,
  write,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isOutOfDescriptors } from '../../descriptors.ts';
import { errorCode } from '../../linux/errno.ts';
import { Freeze } from './freeze.ts';

const writeTo: (fd: number, text: string) => Promise<unknown> = promisify(write);

/**
 * Maximum rounds of the slow kill. Each round kills all listed processes; frozen processes cannot fork between rounds.
 */
const KILL_ROUNDS = 50;
const ROUND_MS = 2;
/** Rounds for which a killed process may take to end: of ROUND_MS, and of SLOW_ROUND_MS after these. */
const ENDING_ROUNDS = 50;
const SLOW_ENDING_ROUNDS = 25;
const SLOW_ROUND_MS = 20;
/** Number of signals per step, which takes about a millisecond. */
const SIGNALS_PER_STEP = 512;
/** Bytes that hold the first two pids of a list. */
const TWO_PIDS = 32;

/** The pids in cgroup.procs of a directory, without those of other pid namespaces. See cgroups(7). */
export function readPids(dir: string): number[] {
  return parsePids(readFileSync(join(dir, 'cgroup.procs'), 'latin1'));
}

/** A pid of 0 is a process outside of this pid namespace; it cannot be signalled. */
const parsePids = (text: string) =>
  text
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0);

/** Sends the signal to each process, in steps. ESRCH and similar: a process that has exited needs none. */
function signalEach(pids: readonly number[], signal: NodeJS.Signals): void | Promise<void> {
  for (const pid of pids.slice(0, SIGNALS_PER_STEP)) {
    try {
      process.kill(pid, signal);
    } catch {}
  }
  const rest = pids.slice(SIGNALS_PER_STEP);
  if (rest.length > 0) return setImmediate().then(() => signalEach(rest, signal));
}

function put(dir: string, file: string, value: string): boolean {
  try {
    writeFileSync(join(dir, file), value, { flag: 'r+' });
    return true;
  } catch (error) {
    // The file may exist: the caller frees a descriptor and retries.
    if (isOutOfDescriptors(error)) throw error;
    return false;
  }
}

/**
 * Sends SIGKILL to all processes in and below `dir`: with cgroup.kill (Linux 5.14) at once; otherwise by freezing,
 * killing each process and thawing, in steps. Throws if no descriptor is free; rejects if processes are left that got no
 * signal, which a repeated call may reach. `children` returns the cgroups below `dir`.
 */
export function killTree(dir: string, children: () => readonly string[] = () => []): void | Promise<void> {
  if (put(dir, 'cgroup.kill', '1')) return;
  return killEach([dir, ...children().map((child) => join(dir, child))]);
}

/** Thaws cgroups that a server which died left frozen on their own. */
function thaw(dirs: readonly string[]): void {
  for (const each of dirs) {
    try {
      if (!put(each, 'cgroup.freeze', '0')) put(each, 'freezer.state', 'THAWED');
    } catch {
      // No descriptor is free: the next round tries again.
    }
  }
}

/** Rejects if a process was never seen, or none could be listed. One that was killed and does not end is no error. */
async function killEach(dirs: readonly string[]): Promise<void> {
  const [dir, ...below] = dirs;
  let unseen = true;
  const killed = new Set<number>();
  for (let round = 0; round < KILL_ROUNDS; round++) {
    let freeze: Freeze | undefined;
    try {
      // What is below is frozen, too. Thawed by the same descriptor: none may be free by then.
      if (round === 0) freeze = new Freeze(dir!);
      const pids = dirs.flatMap((each) => (existsSync(each) ? readPids(each) : []));
      await signalEach(pids, 'SIGKILL');
      if (pids.length === 0) return;
      unseen = pids.some((pid) => !killed.has(pid));
      for (const pid of pids) killed.add(pid);
    } catch {
      // No descriptor is free; one may become free shortly.
    } finally {
      // The v1 freezer delays SIGKILL until it thaws.
      freeze?.thaw();
      thaw(below);
    }
    await delay(ROUND_MS);
  }
  if (unseen) throw new Error('new processes appeared faster than they could be killed, or none could be listed');
}

/**
 * The cgroup of one runner. On v2 its list is kept open: reading it again with pread costs a fifth of opening it. On v1
 * a second read of the same descriptor within a second returns the old list (cgroup_pidlist_start in the kernel's
 * cgroup-v1.c), so the file is opened for every read.
 */
export class CgroupProcessGroup {
  readonly #dir: string;
  readonly #entries: readonly string[];
  /** v2: descriptor of cgroup.procs, until the group is released. */
  #procs: number | undefined;
  #released = false;
  /** A signal that is sent in steps: another one in between would thaw its processes. */
  #sending: Promise<void> | undefined;
  #isRemoved = false;
  /** In progress. */
  #kills = 0;
  readonly #gone: () => void;

  /**
   * `entries`: further cgroup.procs files that each member is written to (limits of commands). `gone`: called when nothing that is
   * done here could reach another group in the same directory any more.
   */
  constructor(dir: string, entries: readonly string[], gone: () => void = () => {}) {
    this.#dir = dir;
    this.#gone = gone;
    try {
      mkdirSync(dir);
    } catch (error) {
      gone();
      throw error;
    }
    this.#entries = [join(dir, 'cgroup.procs'), ...entries];
    try {
      if (existsSync(join(dir, 'cgroup.events'))) this.#procs = openSync(join(dir, 'cgroup.procs'), 'r');
    } catch (error) {
      this.remove();
      throw error;
    }
  }

  /** On another thread: a move waits for an RCU grace period unless another one has just happened. */
  async add(pid: number): Promise<void> {
    for (const file of this.#entries) {
      const fd = openSync(file, 'r+');
      try {
        await writeTo(fd, String(pid));
      } finally {
        closeSync(fd);
      }
    }
  }

  pids(): number[] {
    return this.#released ? [] : this.#list();
  }

  #list(): number[] {
    if (this.#procs === undefined) return readPids(this.#dir);
    const buffer = Buffer.allocUnsafe(4096);
    let text = '';
    for (let read = -1; read !== 0; text += buffer.toString('latin1', 0, Math.max(read, 0))) {
      read = readSync(this.#procs, buffer, 0, buffer.length, text.length);
    }
    return parsePids(text);
  }

  /** Reads no more of the list than is needed to detect a second process. */
  holdsOnly(pid: number): boolean {
    if (this.#released) return true;
    const fd = this.#procs ?? openSync(join(this.#dir, 'cgroup.procs'), 'r');
    try {
      const buffer = Buffer.allocUnsafe(TWO_PIDS);
      const text = buffer.toString('latin1', 0, readSync(fd, buffer, 0, buffer.length, 0));
      return parsePids(text).every((each) => each === pid);
    } finally {
      if (fd !== this.#procs) closeSync(fd);
    }
  }

  /**
   * Sends the signal to all processes in it but `except`, and returns their number. They are frozen meanwhile, so that
   * none forks a process that does not get the signal. Throws only if no descriptor is free.
   */
  signal(signal: NodeJS.Signals, except: number): number | Promise<number> {
    if (this.#sending !== undefined) return this.#sending.then(() => this.signal(signal, except));
    if (this.#released) return 0;
    const freeze = new Freeze(this.#dir);
    let pids: number[];
    try {
      pids = this.pids().filter((pid) => pid !== except);
    } catch (error) {
      freeze.thaw();
      throw error;
    }
    const sending = signalEach(pids, signal);
    if (sending === undefined) {
      freeze.thaw();
      return pids.length;
    }
    this.#sending = sending.then(() => {
      this.#sending = undefined;
      freeze.thaw();
    });
    return this.#sending.then(() => pids.length);
  }

  /**
   * Kills all processes in it, also after its release, and resolves when they have ended: a signal that is sent has not
   * yet ended a process. One that is stuck in the kernel is not waited for longer than about 600 ms. Throws if no descriptor
   * is free; rejects if processes are left that got no signal (see killTree).
   */
  kill(): void | Promise<void> {
    if (this.#isRemoved || !existsSync(this.#dir)) return;
    const killing = killTree(this.#dir);
    this.#kills++;
    return this.#ended(killing).finally(() => {
      this.#kills--;
      if (this.#isRemoved && this.#kills === 0) this.#gone();
    });
  }

  async #ended(killing: void | Promise<void>): Promise<void> {
    await killing;
    for (let round = 0; round < ENDING_ROUNDS + SLOW_ENDING_ROUNDS && !this.#empty(); round++) {
      await delay(round < ENDING_ROUNDS ? ROUND_MS : SLOW_ROUND_MS);
    }
  }

  #empty(): boolean {
    try {
      return this.#list().length === 0;
    } catch {
      // ENODEV or ENOENT: the cgroup is gone. EMFILE: it cannot be read now.
      return !existsSync(this.#dir);
    }
  }

  /** Returns false while a process is in it. Never throws. */
  remove(): boolean {
    const procs = this.#procs;
    this.#procs = undefined;
    this.#released = true;
    try {
      if (procs !== undefined) closeSync(procs);
      if (!this.#isRemoved) rmdirSync(this.#dir);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') return false;
    }
    if (!this.#isRemoved && this.#kills === 0) this.#gone();
    this.#isRemoved = true;
    return true;
  }
}
