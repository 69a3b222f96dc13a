import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { diskError } from '../../../lib/codebases/disk-errors.ts';
import { Scratch } from './scratch.ts';

let scratch: Scratch;

beforeEach(async () => {
  scratch = new Scratch();
  await scratch.open();
});
afterEach(() => scratch.remove());

const DAMAGES: [string, (directory: string) => void][] = [
  ['commit journal', (directory) => writeFileSync(join(directory, 'commit.json'), '[["put"')],
  ['files', (directory) => rmSync(directory, { recursive: true })],
  [
    'files',
    (directory) => {
      rmSync(directory, { recursive: true });
      mkdirSync(directory);
    },
  ],
];

describe.each(DAMAGES)('a codebase that lost its %s', (what, damage) => {
  it('is listed with its status, refuses every operation on its files, and can be deleted', async () => {
    const [damaged, whole] = [await scratch.codebase(), await scratch.codebase()];
    await scratch.upload(damaged, 'a');
    await scratch.upload(whole, 'a');
    damage(dirname(scratch.files(damaged)));
    await scratch.open();
    const { codebases } = await scratch.codebases.list({ owner_id: '', page_size: 100, page_token: '' });
    const listed = new Map(codebases.map(({ id, file_count, status_reason }) => [id, { file_count, status_reason }]));
    expect(listed).toEqual(
      new Map([
        [damaged, { file_count: 0, status_reason: expect.stringContaining(what) }],
        [whole, { file_count: 1, status_reason: '' }],
      ]),
    );
    for (const call of [() => scratch.codebases.get(damaged), () => scratch.upload(damaged, 'b')]) {
      await expect(call()).rejects.toMatchObject({ code: 'DATA_LOSS', message: expect.stringContaining(what) });
    }
    await scratch.upload(whole, 'b');
    await scratch.codebases.delete(damaged);
    expect(scratch.everything().filter((path) => path.includes(damaged))).toEqual([]);
  });
});

it.each([
  ['EDQUOT', 'RESOURCE_EXHAUSTED', 'the storage of codebases is full'],
  ['ENOSPC', 'RESOURCE_EXHAUSTED', 'the storage of codebases is full'],
  ['EFBIG', 'RESOURCE_EXHAUSTED', 'the file is larger than the storage can hold'],
  ['EMFILE', 'RESOURCE_EXHAUSTED', 'too many files are open, try again'],
  ['ENOMEM', 'RESOURCE_EXHAUSTED', 'the server is out of memory, try again'],
  ['EROFS', 'UNAVAILABLE', 'the storage of codebases is read-only'],
  ['EIO', 'UNAVAILABLE', 'the disk with the storage of codebases fails'],
  ['ESTALE', 'UNAVAILABLE', 'the storage of codebases cannot be reached'],
  ['ENODEV', 'UNAVAILABLE', 'the storage of codebases cannot be reached'],
])('%s of the storage is %s: %s', (errno, code, message) => {
  expect(diskError(Object.assign(new Error(errno), { code: errno }))).toMatchObject({ code, message });
});
