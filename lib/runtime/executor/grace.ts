import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceError } from '../../errors.ts';
import { isRunning } from '../../linux/is-running.ts';
import type { TurnTime } from '../../turn-time.ts';
import { signalPaced } from './command-signals.ts';
import type { ProcessGroups } from './groups.ts';
import type { Runner } from './runner.ts';

/** Milliseconds between two looks whether the processes have ended: 1 at first, doubled each time. */
const MAX_LOOK_MS = 16;
/** Milliseconds for finding the processes: programs that fork all the time can make it as long as they want. */
const FIND_MS = 1000;

/** The processes of one command that are to end. */
export interface Ending {
  runner: Runner;
  /** On a terminal, whose shell ignores SIGTERM and ends with SIGHUP. */
  terminal: boolean;
  /** Whether nothing is left to wait for: its shell has told its end, or another path ends it. */
  isOver: () => boolean;
  endings: TurnTime;
}

/**
 * Sends SIGTERM to all processes of a command, and SIGCONT, so that a stopped one gets it. Resolves when none is left, or after
 * `graceMs`. Never rejects: the kill that follows finds the same errors.
 */
export async function endWithin(graceMs: number, { runner, terminal, isOver, endings }: Ending): Promise<void> {
  const deadline = performance.now() + graceMs;
  const isDue = () => performance.now() >= deadline;
  const send = (signal: NodeJS.Signals) => () => runner.signal(signal, terminal);
  const ended = async () => {
    await signalPaced(send('SIGTERM'), () => isDue() || isOver(), endings);
    for (const signal of terminal ? (['SIGHUP', 'SIGCONT'] as const) : (['SIGCONT'] as const)) {
      await endings.run(send(signal));
    }
    await untilGone(deadline, async () => endings.run(() => runner.alone()));
  };
  await Promise.race([ended().catch(() => {}), delay(graceMs, undefined, { ref: false })]);
}

/** A command in progress; see `CommandRun`. */
interface Stoppable {
  pids(): number[] | Promise<number[]>;
  stop(error: ServiceError): Promise<void>;
}

/**
 * Stops these commands, and all processes that earlier ones have left, in the same way. `shells`: of runners, which get no signal.
 * Does not wait any longer when `grace` is aborted. Never rejects.
 */
export async function terminateAll(
  { groups, stopGraceMs }: { groups: ProcessGroups | undefined; stopGraceMs: number },
  { runs, shells }: { runs: readonly Stoppable[]; shells: readonly number[] },
  error: ServiceError,
  grace: AbortSignal,
): Promise<void> {
  const others = async () => {
    // Both at once: a process that a handler starts must not get the signal.
    const [all, own] = await Promise.all([
      groups?.commandProcesses() ?? [],
      Promise.all(runs.map((run) => run.pids())),
    ]);
    const spared = new Set([...own.flat(), ...shells]);
    const others = all.filter(({ pid }) => !spared.has(pid));
    for (const signal of ['SIGTERM', 'SIGCONT'] as const) for (const each of others) each.send(signal);
    await untilGone(performance.now() + stopGraceMs, () => grace.aborted || !others.some(({ pid }) => isRunning(pid)));
  };
  const ended = Promise.all([others().catch(() => {}), ...runs.map((run) => run.stop(error))]);
  const late = delay(stopGraceMs + FIND_MS, undefined, { ref: false, signal: grace }).catch(() => {});
  await Promise.race([ended, late]);
}

async function untilGone(deadline: number, isGone: () => boolean | Promise<boolean>): Promise<void> {
  for (let wait = 1; performance.now() < deadline; wait = Math.min(2 * wait, MAX_LOOK_MS)) {
    if (await isGone()) return;
    await delay(wait);
  }
}
