import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ChosenHunks, Sandbox } from '../../clients/typescript/src/index.ts';
import { runCli } from '../clients/cli/run-cli.ts';
import { put, snapshot, type Tree } from '../clients/typescript/pull-trees.ts';
import { servedOnce } from '../clients/typescript/served.ts';

const served = servedOnce();
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'paddock-renames-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const text = (...lines: string[]) => lines.map((line) => `${line}\n`).join('');

/** What is here after changes on both sides and a pull with the command line. */
async function pulled(base: Tree, script: string, local: Tree): Promise<{ here: object; exitCode: number | null }> {
  put(root, base);
  const sandbox = await served.paddock().sandboxes.create({ from: root, preset: 'full-access' });
  try {
    await sandbox.run(['sh', '-c', script], { check: true });
    put(root, local);
    const { exitCode } = await runCli(['pull', sandbox.id, root], { url: served.url });
    return { here: snapshot(root), exitCode };
  } finally {
    await sandbox.destroy();
  }
}

const kept = (base: Tree, local: Tree) => {
  const other = mkdtempSync(join(tmpdir(), 'paddock-renames-'));
  try {
    put(other, base);
    put(other, local);
    return snapshot(other);
  } finally {
    rmSync(other, { recursive: true });
  }
};

it.each([
  ['files that were exchanged', 'mv a t; mv b a; mv t b', { b: text('1', '2', 'mine') }],
  [
    'files that were exchanged and then written to',
    'mv a t; mv b a; mv t b; echo 3 >> a; echo 3 >> b',
    { b: 'mine\n' },
  ],
  ['a file that took the name of another', 'mv a b', { b: text('1', '2', 'mine') }],
  ['a file whose old name was edited', 'mv a new; echo 3 >> new', { a: 'mine\n' }],
  ['a file in place of a renamed one', 'mv a new; echo 3 > a', { new: 'mine\n' }],
  [
    'a file in place of a renamed one, though other lines of it were edited',
    'mv a new; sed s/2/3/ new > a',
    { a: text('mine', '1', '1', '2'), new: 'mine\n' },
  ],
  ['a directory in which a file was edited', 'mv d e; echo 3 >> e/y', { 'd/x': 'mine\n' }],
  ['directories that were exchanged', 'mv g t; mv f g; mv t f', { 'f/x': 'mine\n' }],
])('of %s nothing comes, if one of the names was edited here', async (_, script, local) => {
  const base = {
    a: text('a', '1', '1', '2'),
    b: text('1', '2'),
    'd/x': 'x\n',
    'd/y': 'y\n',
    'f/x': 'fx\n',
    'g/x': 'gx\n',
  };
  expect(await pulled(base, script, local)).toEqual({ here: kept(base, local), exitCode: 1 });
});

it('a renamed directory comes whole with what was written in it, and leaves what is only here', async () => {
  const base = { 'd/s/x': 'x\n', 'd/y': 'y\n' };
  const found = await pulled(base, 'mv d e; echo 3 >> e/y; echo n > e/n', { 'd/mine': 'mine\n' });
  const here = kept({ 'd/mine': 'mine\n', 'e/n': 'n\n', 'e/s/x': 'x\n', 'e/y': 'y\n3\n' }, {});
  expect(found).toEqual({ here, exitCode: 1 });
});

it.each([
  ['a pull', async (sandbox: Sandbox, hunks: ChosenHunks[]) => (await sandbox.pull(root, { hunks })).applied],
  [
    'a commit',
    async (sandbox: Sandbox, hunks: ChosenHunks[]) => (await sandbox.commit({ hunks })).changes.map(({ path }) => path),
  ],
])('%s of hunks of a file that took the name of another one leaves that one', async (_, take) => {
  put(root, { a: text('a', '2'), b: text('1', '2') });
  await using sandbox = await served.paddock().sandboxes.create({ from: root, preset: 'full-access' });
  await sandbox.run('mv a b; echo 3 >> b', { check: true });
  const [change] = await sandbox.changes({ paths: ['b'], diff: true });
  expect(change).toMatchObject({ kind: 'modified', renamedFrom: 'a', cameAlong: false });
  const { baseSha256, sha256 } = change!.diff!;
  expect(await take(sandbox, [{ path: 'b', baseSha256, sha256, indexes: [0] }])).toEqual(['b']);
});
