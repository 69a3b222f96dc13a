/** Measures a compaction of the metadata: how long it takes, and what it delays the event loop by. */
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { judged } from '../exec/table.mjs';
import { recordState, segment } from './recorded-state.mjs';

const STORE = join(import.meta.dirname, '../../lib/metadata/store.ts');
/** More than a server keeps: the first change starts a compaction. */
const SEGMENTS = 40;
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * @param {string} directory for the state
 * @param {number} size number of sandboxes
 */
export async function compaction(directory, size) {
  const home = mkdtempSync(join(directory, 'compaction-'));
  const bundle = join(home, 'store.mjs');
  await build({
    entryPoints: [STORE],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  recordState(home, { sandboxes: size, running: 0, codebases: 1, firstUid: 0 });
  const path = join(home, 'metadata.json');
  for (let log = 2; log <= SEGMENTS; log++) writeFileSync(`${path}.log.${log}`, segment(log));
  const { openMetadata } = await import(pathToFileURL(bundle).href);
  const delays = monitorEventLoopDelay({ resolution: 1 });
  const metadata = await openMetadata(path, silent);
  const began = performance.now();
  delays.enable();
  const times = [];
  const [codebase] = metadata.codebases.values();
  while (!readdirSync(home).includes('metadata.json.bak')) {
    const at = performance.now();
    await metadata.codebases.put({ ...codebase });
    times.push(performance.now() - at);
    await wait(1);
  }
  const took = performance.now() - began;
  delays.disable();
  await metadata.close();
  const bytes = statSync(path).size;
  rmSync(home, { recursive: true, force: true });
  const most = Math.max(0, delays.max / 1e6 - 1);
  return {
    title: `Compaction of the metadata with ${size.toLocaleString('en')} sandboxes (${(bytes / 2 ** 20).toFixed(0)} MiB)`,
    rows: [
      {
        name: 'event loop delay, p99 / most',
        value: `${Math.max(0, delays.percentile(99) / 1e6 - 1).toFixed(1)} / ${most.toFixed(1)} ms`,
        must: '5 ms',
        verdict: judged(most <= 5, false),
      },
      { name: 'a change meanwhile, longest', value: `${Math.max(...times).toFixed(1)} ms` },
      { name: 'in all', value: `${(took / 1000).toFixed(1)} s` },
    ],
  };
}
