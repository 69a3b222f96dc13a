import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pythonPath } from '../clients/python-packages.ts';
import { servedOnce } from '../clients/typescript/served.ts';

const served = servedOnce();
const PYTHON = `
import json, sys
from paddock_sandbox import Sandbox
result = Sandbox.connect(sys.argv[1]).pull(sys.argv[2])
json.dump({"applied": list(result.applied), "conflicts": list(result.conflicts)}, sys.stdout)`;

type Pulled = { applied: readonly string[]; conflicts: readonly string[] };
type Sandbox = Awaited<ReturnType<typeof sandboxOf>>;

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'paddock-replaced-'));
  await mkdir(join(home, 'd/e'), { recursive: true });
  for (const name of ['d/1', 'd/2', 'd/e/3']) await writeFile(join(home, name), name);
});
afterEach(() => rm(home, { recursive: true }));

const sandboxOf = () => served.paddock().sandboxes.create({ from: home, preset: 'full-access' });
const local = async () => (await readdir(home, { recursive: true })).sort();
const WHOLE = ['d', 'd/1', 'd/2', 'd/e', 'd/e/3'];

describe.each([
  ['TypeScript', (sandbox: Sandbox): Promise<Pulled> => sandbox.pull(home)],
  [
    'Python',
    async ({ id }: Sandbox): Promise<Pulled> => {
      const env = { PATH: process.env.PATH, PYTHONPATH: pythonPath(), PYTHONDONTWRITEBYTECODE: '1' };
      const output = execFileSync('/usr/bin/python3', ['-c', PYTHON, id, home], {
        env: { ...env, PADDOCK_URL: served.url },
      });
      return JSON.parse(output.toString());
    },
  ],
])('a directory that the sandbox replaced, pulled by %s', (_, pull) => {
  it('keeps its files if the replacement is refused', async () => {
    await using sandbox = await sandboxOf();
    await sandbox.run('rm -r d; ln -s /etc d', { check: true });
    expect((await pull(sandbox)).applied).toEqual([]);
    expect(await local()).toEqual(WHOLE);
  });

  it('keeps its files if there are others that the sandbox never had', async () => {
    await using sandbox = await sandboxOf();
    await writeFile(join(home, 'd/e/mine'), 'mine');
    await sandbox.run('rm -r d; echo file > d', { check: true });
    expect(await pull(sandbox)).toMatchObject({ applied: [], conflicts: expect.arrayContaining(['d']) });
    expect(await local()).toEqual([...WHOLE, 'd/e/mine']);
  });

  it('is replaced if it is as the sandbox had it', async () => {
    await using sandbox = await sandboxOf();
    await sandbox.run('rm -r d; echo file > d', { check: true });
    expect((await pull(sandbox)).conflicts).toEqual([]);
    expect(await readFile(join(home, 'd'), 'utf8')).toBe('file\n');
  });
});
