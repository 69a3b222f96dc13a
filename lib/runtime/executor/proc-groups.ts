import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { FoundProcess } from '../../linux/found-process.ts';
import { startOf } from '../../linux/process-start.ts';
import type { ProcessGroup, ProcessGroups } from './groups.ts';

/** Maximum rounds of killing; a program that forks faster survives until the sandbox ends. */
const KILL_ROUNDS = 200;
/** Maximum number of looks for processes that have not got a signal yet. */
const SIGNAL_LOOKS = 3;
/** Runners themselves have 700 (see bootLine). */
const FIRST_MARK = 701;
const LAST_MARK = 1000;
/** Processes examined per step, which takes a few milliseconds. */
const PROCESSES_PER_STEP = 64;

/**
 * Process groups for a host without cgroups, distinguished by a mark that children always inherit (also across setsid
 * and a double fork): oom_score_adj. Weaker than cgroups in two ways: a process can leave its group by changing its own
 * value, and killing races with forking. Both are bounded by the life of the sandbox.
 */
export class ProcGroups implements ProcessGroups {
  readonly #init: () => number | undefined;
  readonly #marks = new Set<number>();

  /** `init`: host pid of the first process in the sandbox's pid namespace, the ancestor of all others. */
  constructor(init: () => number | undefined) {
    this.#init = init;
  }

  async basePids(): Promise<number[]> {
    return (await this.#all()).map(({ pid }) => pid);
  }

  async commandProcesses(): Promise<FoundProcess[]> {
    return withScore(await this.#all(), (score) => score >= FIRST_MARK);
  }

  addGroup(): ProcessGroup {
    let mark = FIRST_MARK;
    while (this.#marks.has(mark)) mark++;
    if (mark > LAST_MARK) throw new Error('no mark is left for another runner');
    this.#marks.add(mark);
    return new ProcGroup(
      mark,
      () => this.#all(),
      () => this.#marks.delete(mark),
    );
  }

  oomKills(): number {
    return 0;
  }

  atPidsLimit(): boolean {
    return false;
  }

  async #all(): Promise<FoundProcess[]> {
    const init = this.#init();
    return init === undefined ? [] : descendants(init);
  }
}

class ProcGroup implements ProcessGroup {
  readonly #mark: number;
  readonly #all: () => Promise<FoundProcess[]>;
  readonly #onEnd: () => void;
  #released = false;
  /** Whether the mark was given back, so that it may be another group's. */
  #ended = false;

  /** `all`: the processes of the sandbox. `onEnd`: the mark is free. */
  constructor(mark: number, all: () => Promise<FoundProcess[]>, onEnd: () => void) {
    this.#mark = mark;
    this.#all = all;
    this.#onEnd = onEnd;
  }

  add(pid: number): void {
    writeFileSync(`/proc/${pid}/oom_score_adj`, String(this.#mark), { flag: 'r+' });
  }

  async holdsOnly(only: number): Promise<boolean> {
    return (await this.#members()).every(({ pid }) => pid === only);
  }

  async pids(): Promise<number[]> {
    return (await this.#unreleased()).map(({ pid }) => pid);
  }

  async signal(signal: NodeJS.Signals, except: number): Promise<number> {
    const sent = new Set([except]);
    // More than one look: one misses a process that gets another parent meanwhile.
    for (let look = 0; look < SIGNAL_LOOKS; look++) {
      const found = (await this.#unreleased()).filter(({ pid }) => !sent.has(pid));
      if (found.length === 0) break;
      for (const each of found) {
        each.send(signal);
        sent.add(each.pid);
      }
    }
    return sent.size - 1;
  }

  async kill(): Promise<void> {
    for (let round = 0; round < KILL_ROUNDS; round++) {
      const found = await this.#members();
      if (found.length === 0) break;
      for (const each of found) each.send('SIGKILL');
    }
    if (this.#released) await this.#giveBack();
  }

  release(): void {
    this.#released = true;
    void this.#giveBack();
  }

  /** A mark is not reused while a process has it. */
  async #giveBack(): Promise<void> {
    if ((await this.#members()).length > 0 || this.#ended) return;
    this.#ended = true;
    this.#onEnd();
  }

  async #unreleased(): Promise<FoundProcess[]> {
    return this.#released ? [] : this.#members();
  }

  async #members(): Promise<FoundProcess[]> {
    return this.#ended ? [] : withScore(await this.#all(), (score) => score === this.#mark);
  }
}

/** In steps: a sandbox may have thousands of processes, each of which costs some reads. */
async function descendants(init: number): Promise<FoundProcess[]> {
  const found: FoundProcess[] = [];
  const waiting = [new FoundProcess(init)];
  for (let looked = 1, next = waiting.pop(); next !== undefined; next = waiting.pop(), looked++) {
    // Of another process with its pid they would be strangers.
    for (const pid of next.isSame ? children(next.pid) : []) {
      const started = startOf(pid);
      if (started === undefined) continue;
      const child = new FoundProcess(pid, started);
      found.push(child);
      waiting.push(child);
    }
    if (looked % PROCESSES_PER_STEP === 0) await setImmediate();
  }
  return found;
}

function children(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

/** undefined also for a zombie, which is in no group any more. */
function scoreOf(pid: number): number | undefined {
  try {
    if (/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'))) return undefined;
    return Number(readFileSync(`/proc/${pid}/oom_score_adj`, 'latin1'));
  } catch {
    return undefined;
  }
}

async function withScore(all: readonly FoundProcess[], matches: (score: number) => boolean): Promise<FoundProcess[]> {
  const found: FoundProcess[] = [];
  for (const [index, each] of all.entries()) {
    if (matches(scoreOf(each.pid) ?? 0)) found.push(each);
    if (index % PROCESSES_PER_STEP === PROCESSES_PER_STEP - 1) await setImmediate();
  }
  return found;
}
