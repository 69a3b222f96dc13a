import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { ProcessGroup, ProcessGroups } from './groups.ts';

/** Maximum rounds of killing; a program that forks faster survives until the sandbox ends. */
const KILL_ROUNDS = 200;
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
    const init = this.#init();
    return init === undefined ? [] : descendants(init);
  }

  addGroup(): ProcessGroup {
    let mark = FIRST_MARK;
    while (this.#marks.has(mark)) mark++;
    if (mark > LAST_MARK) throw new Error('no mark is left for another runner');
    this.#marks.add(mark);
    const pids = async () => marked(await this.basePids(), mark);
    return {
      add: (pid) => writeFileSync(`/proc/${pid}/oom_score_adj`, String(mark), { flag: 'r+' }),
      holdsOnly: async (only) => (await pids()).every((pid) => pid === only),
      kill: async () => {
        for (let round = 0; round < KILL_ROUNDS; round++) {
          const found = await pids();
          if (found.length === 0) return;
          for (const pid of found) kill(pid);
        }
      },
      // A mark is not reused while a process has it.
      release: () =>
        void pids().then((left) => {
          if (left.length === 0) this.#marks.delete(mark);
        }),
    };
  }

  oomKills(): number {
    return 0;
  }

  atPidsLimit(): boolean {
    return false;
  }
}

/** In steps: a sandbox may have thousands of processes, each of which costs one or two reads. */
async function descendants(pid: number): Promise<number[]> {
  const found: number[] = [];
  const waiting = [pid];
  for (let looked = 1, next = waiting.pop(); next !== undefined; next = waiting.pop(), looked++) {
    for (const child of children(next)) {
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

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {}
}

async function marked(pids: readonly number[], mark: number): Promise<number[]> {
  const found: number[] = [];
  for (const [index, pid] of pids.entries()) {
    if (scoreOf(pid) === mark) found.push(pid);
    if (index % PROCESSES_PER_STEP === PROCESSES_PER_STEP - 1) await setImmediate();
  }
  return found;
}
