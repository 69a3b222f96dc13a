/**
 * Measures the delay of the main thread's event loop in the server, which loads this file by NODE_OPTIONS (--import),
 * and the CPU time of its longest step: unlike the delay, that does not contain the time for which other processes had
 * the CPU. On SIGUSR2 it writes both to the file named by PADDOCK_BENCH_DELAYS.
 */
import { openSync, readSync, renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const RESOLUTION_MS = 1;
const file = process.env.PADDOCK_BENCH_DELAYS;

if (isMainThread && file) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const onCpu = cpuTime();
  let longest = 0;
  let before = onCpu();
  const look = () => {
    const now = onCpu();
    longest = Math.max(longest, now - before);
    before = now;
  };
  setInterval(look, RESOLUTION_MS).unref();
  let told = 0;
  process.on('SIGUSR2', () => {
    // The histogram contains the interval itself; without a delay it is the resolution.
    const ms = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
    look();
    const text = JSON.stringify({ told: ++told, p99: ms(delay.percentile(99)), max: ms(delay.max), step: longest });
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
    delay.reset();
    longest = 0;
  });
}

/** Returns a function that returns the CPU time of this thread so far in ms (proc_pid_schedstat). */
function cpuTime() {
  const fd = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const buffer = Buffer.alloc(64);
  return () => Number(buffer.toString('latin1', 0, readSync(fd, buffer, 0, buffer.length, 0)).split(' ')[0]) / 1e6;
}
