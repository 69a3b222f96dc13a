import { schedule } from 'node-cron';
import type { Log } from '../lib/log.ts';

export interface Cron {
  /** Starts no further run; resolves when the one under way has ended. */
  stop(): Promise<void>;
}

export interface CronOptions {
  /** What is run, like `cleanup`. */
  name: string;
  /** Milliseconds from one start to the next, any number above 0; looked at once a second. */
  interval: number;
  run: () => Promise<void>;
  log: Log;
  /** Milliseconds that never go back; replaced by tests. */
  now?: () => number;
}

/** node-cron waits for a time of day: after the clock was set back it would wait until that comes again. */
const STALLED_MS = 10_000;

/**
 * Runs a task again and again. A crontab line can only say divisors of a minute or an hour, so the task ticks every
 * second and runs when its interval has passed. Never twice at a time: a run that takes longer delays the next.
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
  const watchdog = setInterval(() => {
    if (performance.now() - ticked < STALLED_MS) return;
    void task.destroy();
    task = begin();
  }, STALLED_MS);
  return {
    stop: async () => {
      clearInterval(watchdog);
      await task.destroy();
      await running;
    },
  };
}

/** One look at the clock. An error of the run is logged and does not keep the next. */
export function createTick({ name, interval, run, log, now = () => performance.now() }: CronOptions) {
  let due = now() + interval;
  return async (): Promise<void> => {
    if (now() < due) return;
    // From this start, not from when it was due: after a pause of the machine one run is owed, not many.
    due = now() + interval;
    try {
      await run();
    } catch (err) {
      log.error('a scheduled run failed', { name, err });
    }
  };
}

/** node-cron's own logger writes to the console. */
function quiet(log: Log) {
  const debug = (message: string | Error) => log.debug(`node-cron: ${String(message)}`);
  return { info: debug, warn: debug, error: debug, debug };
}
