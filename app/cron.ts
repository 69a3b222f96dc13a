import { schedule } from 'node-cron';
import type { Log } from '../lib/log.ts';

export interface Cron {
  /** Prevents further runs. Resolves when the run in progress has finished. */
  stop(): Promise<void>;
}

export interface CronOptions {
  /** Name of the task in log lines, for example `cleanup`. */
  name: string;
  /** Milliseconds between the starts of two runs; above 0. Checked once a second. */
  interval: number;
  run: () => Promise<void>;
  log: Log;
  /** Monotonic clock in milliseconds. Tests replace it. */
  now?: () => number;
}

/** node-cron waits for a time of day: after the clock was set back, it would wait until that time comes again. */
const STALLED_MS = 10_000;

/**
 * Runs a task at an interval. A crontab expression can only express divisors of a minute or an hour, so the task checks
 * the interval once a second. Runs never overlap: a run that takes longer than the interval delays the next one.
 *
 * The caller owns the returned Cron and must call `stop`.
 */
export function startCron(options: CronOptions): Cron {
  const tick = createTick(options);
  let running: Promise<void> | undefined;
  let ticked = performance.now();
  const onSecond = () => {
    ticked = performance.now();
    running ??= tick().finally(() => {
      running = undefined;
    });
  };
  const begin = () =>
    schedule('* * * * * *', onSecond, { name: options.name, suppressMissedWarning: true, logger: quiet(options.log) });
  let task = begin();
  /** Never rejects; the next check tries again. */
  const beginAgain = async () => {
    const stalled = task;
    try {
      task = begin();
      await stalled.destroy();
    } catch (err) {
      options.log.error('stalled schedule could not be replaced', { name: options.name, err });
    }
  };
  const watchdog = setInterval(() => {
    if (performance.now() - ticked >= STALLED_MS) void beginAgain();
  }, STALLED_MS);
  return {
    stop: async () => {
      clearInterval(watchdog);
      await task.destroy();
      await running;
    },
  };
}

/** Runs the task if its interval has passed. An error of the task is logged and does not prevent later runs. */
export function createTick({ name, interval, run, log, now = () => performance.now() }: CronOptions) {
  let due = now() + interval;
  return async (): Promise<void> => {
    if (now() < due) return;
    // Counted from the actual start, not from the due time: after a suspend of the machine the task runs once, not many
    // times.
    due = now() + interval;
    try {
      await run();
    } catch (err) {
      log.error('scheduled task failed', { name, err });
    }
  };
}

/** Redirects the logger of node-cron, which would otherwise write to the console. */
function quiet(log: Log) {
  const debug = (message: string | Error) => log.debug(`node-cron: ${String(message)}`);
  return { info: debug, warn: debug, error: debug, debug };
}
