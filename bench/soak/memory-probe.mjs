/**
 * Loaded into the server and its worker threads by NODE_OPTIONS. Every SOAK_INTERVAL ms it runs a full collection and
 * appends a line with the memory figures of each thread to the file named by SOAK_MEMORY, so the figures are of live memory.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread, workerData } from 'node:worker_threads';

const file = process.env.SOAK_MEMORY;
const interval = Number(process.env.SOAK_INTERVAL);

if (file !== undefined) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const thread = isMainThread ? 'main' : (workerData?.role ?? 'worker');
  const report = () => {
    collect();
    const { rss, heapTotal, heapUsed, external, arrayBuffers } = process.memoryUsage();
    fs.appendFileSync(
      file,
      `${JSON.stringify({ at: Date.now(), thread, rss, heapTotal, heapUsed, external, arrayBuffers })}\n`,
    );
  };
  if (isMainThread) setInterval(report, interval).unref();
  else if (thread === 'fuse') {
    // The request worker sleeps in read(2) and has no event loop, so it reports between two requests.
    const { readSync } = fs;
    let next = performance.now() + interval;
    fs.readSync = (/** @type {[any, any, any]} */ ...args) => {
      if (performance.now() >= next) {
        next = performance.now() + interval;
        report();
      }
      return readSync(...args);
    };
    syncBuiltinESMExports();
  }
}
