/**
 * Loaded into a server by a test. Appends to the file of PADDOCK_TURNS a line for each long turn of the event loop
 * (`turn START END CPU WAITED`), and for each long collection of garbage (`gc START END KIND`), in milliseconds of one clock.
 *
 * CPU: time of the main thread on a CPU. WAITED: time in which it waits for something inside of the turn, like a synchronous
 * call to a disk. Neither has the time in which the thread could run and others do, so that a busy machine changes no figure.
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
  const look = reader();
  let before = look();
  setInterval(() => {
    const now = look();
    const cpu = now.cpu - before.cpu;
    const elsewhere = now.idle - before.idle + now.queued - before.queued;
    const waited = Math.max(0, now.at - before.at - cpu - elsewhere);
    const figures = [before.at, now.at, cpu, waited].map(tenths);
    if (cpu + waited > LONG_MS) appendFileSync(file, `turn ${figures.join(' ')}\n`);
    before = now;
  }, EACH_MS).unref();
  new PerformanceObserver((list) => {
    for (const { duration, startTime, detail } of list.getEntries()) {
      const { kind } = /** @type {{ kind: number }} */ (detail);
      if (duration > LONG_MS) appendFileSync(file, `gc ${tenths(startTime)} ${tenths(startTime + duration)} ${kind}\n`);
    }
  }).observe({ entryTypes: ['gc'] });
}

/** Times in milliseconds: now, on a CPU, in the queue for one, and without anything to do. */
function reader() {
  const descriptor = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const bytes = Buffer.alloc(64);
  return () => {
    const text = bytes.toString('latin1', 0, readSync(descriptor, bytes, 0, 64, 0));
    const [cpu = 0, queued = 0] = text.split(' ').map((nanoseconds) => Number(nanoseconds) / 1e6);
    return { at: performance.now(), cpu, queued, idle: performance.nodeTiming.idleTime };
  };
}

/** @param {number} ms */
const tenths = (ms) => ms.toFixed(1);
