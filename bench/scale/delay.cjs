// Loaded into the measured server (NODE_OPTIONS=--require): at each SIGUSR2 it writes what the event loop was delayed by
// since the last one, in milliseconds, to the file that EVENT_LOOP_DELAYS names.
const { writeFileSync, renameSync } = require('node:fs');
const { monitorEventLoopDelay } = require('node:perf_hooks');
const { isMainThread } = require('node:worker_threads');

const path = process.env.EVENT_LOOP_DELAYS;
if (isMainThread && path !== undefined) {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  process.on('SIGUSR2', () => {
    // What the timer itself waits is no delay.
    const ms = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - 1);
    writeFileSync(`${path}.new`, JSON.stringify({ p99: ms(delays.percentile(99)), max: ms(delays.max) }));
    renameSync(`${path}.new`, path);
    delays.reset();
  });
}
