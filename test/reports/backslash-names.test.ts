import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cli } from '../clients/cli/cli.ts';
import { servedOnce } from '../clients/typescript/served.ts';

const served = servedOnce();
let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'paddock-names-'));
  await writeFile(join(directory, 'dev\\x2d1'), 'old\n');
});
afterEach(() => rm(directory, { recursive: true }));

it('files with a backslash in their names come home, changed and new', async () => {
  const script = String.raw`echo more >> 'dev\x2d1'; echo new > 'a\b'; mkdir '..\up'; echo x > '..\up/c'`;
  const args = ['run', '--from', directory, '--preset', 'full-access', '--apply', 'all', '--', 'sh', '-c', script];
  const { code, stderr } = await cli(args, { url: served.url });
  expect(stderr).not.toContain('conflict');
  expect(code).toBe(0);
  expect(await readFile(join(directory, 'dev\\x2d1'), 'utf8')).toBe('old\nmore\n');
  expect((await readdir(directory, { recursive: true })).sort()).toEqual(
    ['dev\\x2d1', 'a\\b', '..\\up', '..\\up/c'].sort(),
  );
});
