import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ProcessGroup, ProcessGroups } from './groups.ts';

/** Rounds of killing what is found; a program that forks faster than that survives until the sandbox ends. */
const KILL_ROUNDS = 200;
/** Runners themselves have 700 (see bootLine). */
const FIRST_MARK = 701;
const LAST_MARK = 1000;

/**
 * Groups for a host that offers no cgroups: told apart by a mark that children inherit whatever they do (setsid, double
 * fork), the OOM score. Weaker than cgroups in two ways: a process that changes its own score leaves its group, and
 * killing is a race against forking. Both end with the sandbox.
 */
export class ProcGroups implements ProcessGroups {
  readonly #init: () => number | undefined;
  readonly #marks = new Set<number>();

  /** `init`: host pid of the first process in the sandbox's pid namespace; all others descend from it. */
  constructor(init: () => number | undefined) {
    this.#init = init;
  }

  basePids(): number[] {
    const init = this.#init();
    return init === undefined ? [] : descendants(init);
  }

  addGroup(): ProcessGroup {
    let mark = FIRST_MARK;
    while (this.#marks.has(mark)) mark++;
    if (mark > LAST_MARK) throw new Error('no mark is left for another runner');
    this.#marks.add(mark);
    const pids = () => this.basePids().filter((pid) => scoreOf(pid) === mark);
    return {
      add: (pid) => writeFileSync(`/proc/${pid}/oom_score_adj`, String(mark), { flag: 'r+' }),
      pids,
      kill: () => {
        for (let round = 0; round < KILL_ROUNDS; round++) {
          const found = pids();
          if (found.length === 0) return;
          for (const pid of found) kill(pid);
        }
      },
      // While something of it lives, the mark stays its own.
      release: () => {
        if (pids().length === 0) this.#marks.delete(mark);
      },
    };
  }

  oomKills(): number {
    return 0;
  }

  atPidsLimit(): boolean {
    return false;
  }
}

function descendants(pid: number): number[] {
  return children(pid).flatMap((child) => [child, ...descendants(child)]);
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

/** undefined for a zombie, too: it is in no group any more. */
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
