import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import { Scratch } from './scratch.ts';

const failing = vi.hoisted(() => ({ before: () => {} }));
vi.mock(import('node:fs/promises'), async (original) => {
  const actual = await original();
  const open = async (...args: Parameters<typeof actual.open>) => {
    if (args[1] === 'r') failing.before();
    return actual.open(...args);
  };
  return { ...actual, open };
});

let scratch: Scratch;
beforeEach(async () => {
  scratch = new Scratch();
  await scratch.open();
});
afterEach(() => {
  failing.before = () => {};
  scratch.remove();
});

it('a commit whose journal is in place and could not be synced is finished before the next change', async () => {
  const id = await scratch.codebase();
  const journal = join(scratch.files(id), '../commit.json');
  failing.before = () => {
    if (existsSync(journal)) throw Object.assign(new Error('sync failed'), { code: 'EMFILE' });
  };
  const committing = scratch.codebases.apply(id, async (staging) => {
    writeFileSync(join(staging, '0'), 'committed');
    return {
      stages: [{ steps: [['put', fromText('f'), fromText('0')]], settled: [] }],
      givenUp: [],
      paths: [fromText('f')],
      removed: [],
      growth: { files: 1, bytes: 9, directories: 0 },
    };
  });
  await expect(committing).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
  failing.before = () => {};
  await scratch.upload(id, 'other');
  expect(await scratch.text(id, 'f')).toBe('committed');
  await scratch.open();
  expect(await scratch.counted(id)).toEqual([2, 14]);
});
