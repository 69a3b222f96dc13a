import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cli } from '../clients/cli/cli.ts';
import { pythonPath } from '../clients/python-packages.ts';
import { servedOnce } from '../clients/typescript/served.ts';

const served = servedOnce();
const PYTHON = `
import json, sys
from paddock_sandbox import Sandbox
result = Sandbox.connect(sys.argv[1]).pull(sys.argv[2], max_bytes=2**20)
json.dump([list(result.applied), dict(result.skipped)], sys.stdout)`;
/** The names are globs; one has a size that fits beside the others alone. */
const COMMAND = `head -c 3000000 /dev/zero > '[l]*rge\\{x}?'; head -c 10 /dev/zero > large
  head -c 700000 /dev/zero > m; head -c 700000 /dev/zero > n; echo o > o`;
const LARGE = '[l]*rge\\{x}?';
const REASONS = {
  [LARGE]: 'it has 3000000 bytes, and all that comes may have 1048576',
  n: 'it has 700000 bytes, and all that comes may have 1048576, of which 348566 are left',
};

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'paddock-large-'));
});
afterEach(() => rm(home, { recursive: true }));

const made = async () => {
  const sandbox = await served.paddock().sandboxes.create({ from: home, preset: 'full-access' });
  await sandbox.run(COMMAND, { check: true });
  return sandbox;
};

let id: string;
/** The sandbox is kept, as it has what did not fit. */
async function pullOne() {
  await using sandbox = await made();
  id = sandbox.id;
  return await sandbox.pull(home, { maxBytes: 2 ** 20 });
}

it('a file that is larger than what may come is left out with its size, the limit and the option; the others come', async () => {
  const pulled = await pullOne();
  const kept = await served.paddock().sandboxes.get(id);
  await kept.destroy();
  expect(pulled.applied).toEqual(['large', 'm', 'o']);
  const reasons = Object.entries(REASONS).map(([path, reason]) => ({ path, reason, option: 'maxBytes' }));
  expect(pulled.skipped).toEqual(reasons);
  expect((await readdir(home)).sort()).toEqual(['large', 'm', 'o']);
});

it('the Python client does the same', async () => {
  await using sandbox = await made();
  const variables = { PATH: process.env.PATH, PYTHONPATH: pythonPath(), PYTHONDONTWRITEBYTECODE: '1' };
  const env = { ...variables, PADDOCK_URL: served.url };
  const [applied, skipped] = JSON.parse(
    execFileSync('/usr/bin/python3', ['-c', PYTHON, sandbox.id, home], { env, encoding: 'utf8' }),
  );
  expect(applied).toEqual(['large', 'm', 'o']);
  const hint = ': a larger max_bytes brings it';
  expect(skipped).toEqual(Object.fromEntries(Object.entries(REASONS).map(([path, reason]) => [path, reason + hint])));
});

it('pull of the command line names the option that brings it', async () => {
  await using sandbox = await made();
  const { code, stderr } = await cli(['pull', sandbox.id, home, '--max-bytes', '1m'], { url: served.url });
  expect(code).toBe(0);
  expect(stderr).toContain(`left out n: ${REASONS.n}; "paddock pull" brings it with a larger --max-bytes\n`);
  expect(stderr).toContain(`: ${REASONS[LARGE]}; `);
  expect((await cli(['pull', sandbox.id, home, '--max-bytes', '4g'], { url: served.url })).code).toBe(0);
  expect((await stat(join(home, LARGE))).size).toBe(3_000_000);
});
