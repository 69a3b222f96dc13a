/**
 * Loaded into the server under measurement by NODE_OPTIONS (--import): the delay of its main thread's event loop, told
 * on SIGUSR2 in the file that PADDOCK_BENCH_DELAYS names. The server itself knows nothing of it.
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
    // A turn that is in time takes the resolution itself.
    const ms = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
    const text = JSON.stringify({ told: ++told, p99: ms(delay.percentile(99)), max: ms(delay.max) });
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
    delay.reset();
  });
}
