import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bring } from '../../clients/cli/src/run/bring.ts';
import { cli } from '../clients/cli/cli.ts';
import { pythonPath } from '../clients/python-packages.ts';
import { servedOnce } from '../clients/typescript/served.ts';

const served = servedOnce();
const REAL = 'STRIPE_KEY=sk_live_51HxQm9vN2abcdefgh\nDB_PASSWORD=hunter2secret\nDEBUG=true\n';
const LOSS = /values that are here, of which the sandbox saw placeholders only, would be lost/;
const PYTHON = `
import json, sys
from paddock_sandbox import Sandbox
result = Sandbox.connect(sys.argv[1]).pull(sys.argv[2], allow=json.loads(sys.argv[3]))
json.dump([list(result.applied), dict(result.skipped), list(result.conflicts)], sys.stdout)`;

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'paddock-values-'));
  await writeFile(join(home, '.env'), REAL);
  await writeFile(join(home, 'a'), 'a\n');
});
afterEach(() => rm(home, { recursive: true }));

const env = () => readFile(join(home, '.env'), 'utf8');
const sandboxOf = () => served.paddock().sandboxes.create({ from: home, preset: 'development' });
const pythonPull = (id: string, allow: readonly string[] = []) => {
  const variables = { PATH: process.env.PATH, PYTHONPATH: pythonPath(), PYTHONDONTWRITEBYTECODE: '1' };
  const args = ['-c', PYTHON, id, home, JSON.stringify(allow)];
  const output = execFileSync('/usr/bin/python3', args, { env: { ...variables, PADDOCK_URL: served.url } });
  const [applied, skipped, conflicts] = JSON.parse(output.toString());
  return { applied, skipped, conflicts } as { applied: string[]; skipped: Record<string, string>; conflicts: string[] };
};

describe.each([
  ['renames the file', 'mv .env x'],
  ['renames it to a name that is redacted, too', 'mv .env .env.production'],
  ['copies and removes it', 'cp .env x; rm .env'],
  ['removes it', 'rm .env'],
  ['makes a symlink of it', 'mv .env x; ln -s x .env'],
  ['makes a directory of it', 'mv .env x; mkdir .env'],
  ['moves a placeholder to another key', 'sed -i s/STRIPE_KEY/PAY_KEY/ .env'],
  ['empties it', ': > .env'],
  ['removes a line with a value', 'sed -i /STRIPE/d .env'],
  ['renames it and makes another one', 'mv .env x; echo STRIPE_KEY= > .env'],
  ['moves another file over it', 'echo STRIPE_KEY= > x; mv x .env'],
  ['puts a changed copy in its place', 'sed s/STRIPE_KEY/PAY_KEY/ .env > x; mv x .env'],
  ['makes it larger than what is understood', 'yes A=1 | head -n 400000 >> .env'],
])('the values of a file of which the sandbox saw placeholders stay here when it', (what, command) => {
  it(what, async () => {
    const sandbox = await sandboxOf();
    await sandbox.run(`${command}; echo b > a`, { check: true });
    const pulled = await sandbox.pull(home);
    expect(pulled.skipped).toContainEqual({ path: '.env', reason: expect.stringMatching(LOSS), allow: '.env' });
    expect([pulled.conflicts, pulled.failed, await env()]).toEqual([[], [], REAL]);
    expect(await readFile(join(home, 'a'), 'utf8')).toBe('b\n');
    const { skipped, conflicts } = pythonPull(sandbox.id);
    expect(skipped['.env']).toMatch(LOSS);
    expect([conflicts, await env()]).toEqual([[], REAL]);
    // What was left keeps it beyond its block.
    await sandbox.destroy();
  });
});

it('edits between the values, and new keys, come with the values of here', async () => {
  await using sandbox = await sandboxOf();
  await sandbox.run('sed -i s/DEBUG=true/DEBUG=false/ .env; echo NEW=1 >> .env', { check: true });
  const pulled = await sandbox.pull(home);
  expect([pulled.applied, pulled.skipped]).toEqual([['.env'], []]);
  expect(await env()).toBe(`${REAL.replace('true', 'false')}NEW=1\n`);
});

it.each([
  ['a quoted text with lines', 'KEY="one-line-of-it\\ntwo-lines-of-it"\nDEBUG=true\n', '.env'],
  ['JSON with escapes', '{"key": "one \\"quoted\\" secret-9aX", "debug": true}\n', 'credentials.json'],
])('an edit beside %s comes, as no value is lost', async (_, contents, name) => {
  await writeFile(join(home, name), contents);
  await using sandbox = await sandboxOf();
  await sandbox.run(`sed -i s/true/false/ ${name}`, { check: true });
  expect(await sandbox.pull(home)).toMatchObject({ applied: [name], skipped: [] });
  expect(await readFile(join(home, name), 'utf8')).toBe(contents.replace('true', 'false'));
});

it('a loss that is allowed by its path comes', async () => {
  await using sandbox = await sandboxOf();
  await sandbox.run('mv .env x', { check: true });
  expect((await sandbox.pull(home, { allow: ['.env'] })).skipped).toEqual([]);
  expect((await readdir(home)).sort()).toEqual(['a', 'x']);
  await writeFile(join(home, '.env'), REAL);
  expect(pythonPull(sandbox.id, ['.env']).skipped).toEqual({});
  expect((await readdir(home)).sort()).toEqual(['a', 'x']);
});

it('run --apply all says what it left out, and keeps the sandbox for it', async () => {
  const words = ['--from', home, '--preset', 'development', '--apply', 'all', '--', 'mv', '.env', 'x'];
  const { code, stderr } = await cli(['run', ...words], { url: served.url });
  expect([code, await env()]).toEqual([0, REAL]);
  expect(stderr).toMatch(new RegExp(`left out \\.env: ${LOSS.source}; --take \\.env brings it\n`));
  const id = /sandbox (sb_\w+) is kept/.exec(stderr)![1]!;
  expect((await cli(['diff', id], { url: served.url, cwd: home })).stderr).toMatch(LOSS);
  expect((await cli(['pull', id, home, '--take', '.env'], { url: served.url })).code).toBe(0);
  expect((await readdir(home)).sort()).toEqual(['a', 'x']);
  await cli(['rm', id], { url: served.url });
});

it.each([
  ['meanwhile', false],
  ['between the list and the contents', true],
])('no line of here that was edited is merged with the loss of values %s', async (_, afterList) => {
  await writeFile(join(home, '.env'), 'A=1\nB=2\nDEBUG=true\nC=3\nSTRIPE_KEY=sk_live_51HxQm9vN2abcdefgh\n');
  await using sandbox = await sandboxOf();
  await sandbox.run('echo NEW=1 >> .env', { check: true });
  const mine = 'A=mine\nB=2\nDEBUG=true\nC=3\nSTRIPE_KEY=sk_live_51HxQm9vN2abcdefgh\n';
  await writeFile(join(home, '.env'), mine);
  const drop = () => sandbox.run('sed -i /STRIPE/d .env', { check: true });
  const agent = new Proxy(sandbox, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (name !== (afterList ? 'changes' : 'pull')) return typeof value === 'function' ? value.bind(target) : value;
      return async (...args: unknown[]) => {
        const found = await value.apply(target, args);
        await drop();
        return found;
      };
    },
  });
  expect(await bring(agent, home, {})).toMatchObject({ merged: [], conflicts: ['.env'] });
  expect(await env()).toBe(mine);
  await sandbox.destroy();
});

it('the agent is not told whether its text would have the values', async () => {
  await using sandbox = await sandboxOf();
  await sandbox.run('sed -i s/STRIPE_KEY/PAY_KEY/ .env', { check: true });
  const of = async (as: 'agent' | 'owner') => (await sandbox.changes({ as })).map(({ losesValues }) => losesValues);
  expect([await of('owner'), await of('agent')]).toEqual([[true], [false]]);
});
