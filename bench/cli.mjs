// Start-up time of the command line, compared with that of Node.js itself, and sizes of the bundles.
// usage: node bench/cli.mjs [--runs N]
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { bundle, bundleCli } from '../esbuild.config.mjs';

const { values } = parseArgs({ options: { runs: { type: 'string', default: '21' } } });
const runs = Number(values.runs);

await Promise.all([bundle(), bundleCli()]);
const file = (/** @type {string} */ name) => fileURLToPath(new URL(`../dist/${name}`, import.meta.url));

/** In turns, so that the load of the machine is the same for all. */
const CASES = {
  'node -e 0': ['-e', '0'],
  'paddock --version': [file('paddock.mjs'), '--version'],
  'paddock exec --help': [file('paddock.mjs'), 'exec', '--help'],
  'paddock --help': [file('paddock.mjs'), '--help'],
  'server.mjs --version': [file('server.mjs'), '--version'],
};
const times = Object.fromEntries(Object.keys(CASES).map((name) => [name, /** @type {number[]} */ ([])]));
for (let run = 0; run < runs; run++) {
  for (const [name, args] of Object.entries(CASES)) {
    const start = performance.now();
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${name}: ${stderr}`);
    times[name].push(performance.now() - start);
  }
}
const median = (/** @type {number[]} */ all) => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)];
const node = median(times['node -e 0']);
process.stdout.write(`median of ${runs} runs, load ${loadavg()[0].toFixed(1)}\n`);
for (const [name, all] of Object.entries(times)) {
  const time = median(all);
  process.stdout.write(`${name.padEnd(22)} ${time.toFixed(0).padStart(5)} ms   ${(time / node).toFixed(2)} x node\n`);
}
for (const name of ['paddock.mjs', 'server.mjs']) {
  const [size, packed] = [statSync(file(name)).size, gzipSync(readFileSync(file(name))).length];
  process.stdout.write(`${name.padEnd(22)} ${(size / 1024).toFixed(0)} KiB, ${(packed / 1024).toFixed(0)} KiB gzip\n`);
}
