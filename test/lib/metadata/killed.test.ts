import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { silentLog } from '../../../lib/log.ts';
import { openMetadata } from '../../../lib/metadata/store.ts';

const KILLS = Number(process.env.PADDOCK_KILLS ?? 12);
const WORKERS = 6;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paddock-killed-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Changes two records of each worker together, for as long as it lives; says what it begins, and what was acknowledged. */
const CLIENT = `
  import { openMetadata } from ${JSON.stringify(join(import.meta.dirname, '../../../lib/metadata/store.ts'))};
  import { writeSync } from 'node:fs';
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const metadata = await openMetadata(process.argv[2], log, { leastBytes: 8192 });
  const from = Number(process.argv[3]);
  const work = async (worker) => {
    for (let n = from; ; n++) {
      writeSync(1, 'try ' + worker + ' ' + n + '\\n');
      const name = String(n);
      const padding = 'x'.repeat(n % 7 === 0 ? 3000 : 20);
      const stored = n % 5 === 4
        ? [metadata.codebases.remove('cb_' + worker), metadata.keys.remove('key_' + worker)]
        : [
            metadata.codebases.put({ id: 'cb_' + worker, name, owner_id: padding }),
            metadata.keys.put({ id: 'key_' + worker, name, role: '', owner_id: '', sandbox_id: '', sha256: '' }),
          ];
      await Promise.all(stored);
      writeSync(1, 'done ' + worker + ' ' + n + '\\n');
    }
  };
  await Promise.all(Array.from({ length: ${WORKERS} }, (_, worker) => work(worker)));
`;

it('has after each kill -9 what was acknowledged, or what was begun after it, and never a half of a write', {
  timeout: 60_000 + KILLS * 3000,
}, async () => {
  const client = join(folder, 'client.mjs');
  await build({
    stdin: { contents: CLIENT, resolveDir: import.meta.dirname, loader: 'js' },
    outfile: client,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  const path = join(folder, 'db.json');
  const [done, tried] = [new Map<string, number>(), new Map<string, number>()];
  for (let kill = 0; kill < KILLS; kill++) {
    const child = spawn(process.execPath, [client, path, String(kill * 100_000)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const least = 50 + ((kill * 7919) % 700);
    let seen = 0;
    for await (const line of createInterface(child.stdout)) {
      const [what, worker = '', n] = line.split(' ');
      (what === 'done' ? done : tried).set(worker, Number(n));
      if (what === 'done' && ++seen === least) child.kill('SIGKILL');
    }
    const metadata = await openMetadata(path, silentLog, { leastBytes: 8192 });
    for (let worker = 0; worker < WORKERS; worker++) {
      const name = metadata.codebases.get(`cb_${worker}`)?.name;
      expect(metadata.keys.get(`key_${worker}`)?.name, `kill ${kill}`).toBe(name);
      const [last, begun] = [done.get(String(worker)) ?? -1, tried.get(String(worker)) ?? -1];
      const nameAfter = (n: number) => (n < 0 || n % 5 === 4 ? undefined : String(n));
      expect([nameAfter(last), nameAfter(begun)], `kill ${kill}, worker ${worker}`).toContain(name);
      done.set(String(worker), name === undefined ? -1 : Number(name));
    }
    await metadata.close();
  }
  // Compactions took place meanwhile.
  expect(readdirSync(folder)).toContain('db.json.bak');
});
