/**
 * Loaded into a server by a test. Appends to the file of PADDOCK_TURNS a line for each turn of the event loop that used the
 * CPU for more than LONG_MS (`turn MS`), and for each garbage collection as long (`gc MS`). CPU time of the main thread, not
 * wall time: on a busy machine a turn waits for a CPU.
 */
import { appendFileSync, openSync, readSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** Timers fire once a millisecond at most, so a figure has up to one millisecond of other turns. */
const EACH_MS = 1;
const LONG_MS = 5;

const file = process.env.PADDOCK_TURNS;
if (isMainThread && file !== undefined) record(file);

/** @param {string} file */
function record(file) {
  const descriptor = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const bytes = Buffer.alloc(64);
  /** Nanoseconds of CPU time, up to this moment. */
  const used = () => Number.parseInt(bytes.toString('latin1', 0, readSync(descriptor, bytes, 0, 64, 0)), 10);
  let before = used();
  setInterval(() => {
    const now = used();
    const ms = (now - before) / 1e6;
    before = now;
    if (ms > LONG_MS) appendFileSync(file, `turn ${ms.toFixed(1)}\n`);
  }, EACH_MS).unref();
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      if (duration > LONG_MS) appendFileSync(file, `gc ${duration.toFixed(1)}\n`);
    }
  }).observe({ entryTypes: ['gc'] });
}
