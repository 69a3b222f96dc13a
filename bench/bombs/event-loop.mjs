/**
 * Measures the delay of the main thread's event loop in the server, which loads this file by NODE_OPTIONS (--import). On
 * SIGUSR2 it writes the delay to the file named by PADDOCK_BENCH_DELAYS.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const RESOLUTION_MS = 1;
const file = process.env.PADDOCK_BENCH_DELAYS;

if (isMainThread && file) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let told = 0;
  process.on('SIGUSR2', () => {
    // The histogram contains the interval itself; without a delay it is the resolution.
    const ms = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
    const text = JSON.stringify({ told: ++told, p99: ms(delay.percentile(99)), max: ms(delay.max) });
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
    delay.reset();
  });
}
