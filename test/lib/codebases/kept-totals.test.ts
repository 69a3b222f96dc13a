import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Totals } from '../../../lib/codebases/totals.ts';
import { Scratch } from './scratch.ts';

let scratch: Scratch;
let id: string;

beforeEach(async () => {
  scratch = new Scratch();
  await scratch.open();
  id = await scratch.codebase();
  await scratch.upload(id, 'd/a', '12345');
});
afterEach(() => scratch.remove());

/** What a walk would find, and kept totals do not show. */
const addByHand = (name = 'by hand') => writeFileSync(join(scratch.files(id), name), '123');
const kept = () => scratch.records.get(id)?.contents;
const restart = async () => {
  await scratch.codebases.close();
  await scratch.open({ verified: false });
};

describe('totals', () => {
  it('are kept at the end of a server, and the next one does not count', async () => {
    await scratch.upload(id, 'd/a', '12345');
    expect(kept()).toMatchObject({ isExact: false });
    await scratch.codebases.close();
    expect(kept()).toEqual({ files: 1, bytes: 5, directories: 1, isExact: true, revision: expect.any(String) });
    addByHand();
    await scratch.open({ verified: false });
    expect(await scratch.counted(id)).toEqual([1, 5]);
    const { codebases } = await scratch.codebases.list({ owner_id: '', page_size: 10, page_token: '' });
    expect(codebases).toMatchObject([{ file_count: 1, total_size: 5 }]);
    await scratch.upload(id, 'b', '1');
    expect([await scratch.counted(id), kept()]).toMatchObject([[2, 6], { isExact: false }]);
    expect(await scratch.codebases.get(id)).toMatchObject({ totals_outdated: false });
  });

  it('are kept a while after the last change', async () => {
    await scratch.upload(id, 'b', '1');
    await expect
      .poll(kept, { timeout: 60_000 })
      .toEqual({ files: 2, bytes: 6, directories: 1, isExact: true, revision: expect.any(String) });
  });

  it('are those before the last changes after a crash, until they are verified', async () => {
    await restart();
    await scratch.upload(id, 'b', '1');
    await scratch.open({ verified: false });
    const shown = async () => (await scratch.codebases.list({ owner_id: '', page_size: 10, page_token: '' })).codebases;
    expect(await scratch.codebases.get(id)).toMatchObject({ file_count: 1, total_size: 5, totals_outdated: true });
    expect(await shown()).toMatchObject([{ file_count: 1, totals_outdated: true, status_reason: '' }]);
    await scratch.verifyTotals();
    expect(kept()).toEqual({ files: 2, bytes: 6, directories: 1, isExact: true });
    expect(await scratch.codebases.get(id)).toMatchObject({ file_count: 2, total_size: 6, totals_outdated: false });
    expect(await shown()).toMatchObject([{ file_count: 2, totals_outdated: false }]);
  });

  it('include files that were added by hand once they are verified, in use or not', async () => {
    await restart();
    addByHand();
    await scratch.codebases.verifier.verifyAll(true);
    expect([await scratch.counted(id), kept()]).toMatchObject([[2, 8], { isExact: true }]);
    await scratch.upload(id, 'b', '1');
    addByHand('again');
    expect(await scratch.counted(id)).toEqual([3, 9]);
    await scratch.verifyTotals();
    expect(await scratch.counted(id)).toEqual([4, 12]);
  });

  it('are never negative', async () => {
    await restart();
    for (const name of ['x', 'y', 'z']) addByHand(name);
    for (const name of ['x', 'y', 'z', 'd/a']) await scratch.codebases.removeFile(id, name);
    expect(await scratch.counted(id)).toEqual([0, 0]);
    addByHand();
    await expect.poll(() => scratch.counted(id), { timeout: 60_000 }).toEqual([1, 3]);
  });

  it('are not kept by a count that a change overlaps', async () => {
    for (let n = 0; n < 300; n++) addByHand(String(n));
    const verified = scratch.codebases.verifier.verifyAll(true);
    await scratch.upload(id, 'b', '1');
    await verified;
    expect(await scratch.counted(id)).toEqual([2, 6]);
  });

  it('of an earlier release are told to be missing until they are counted', async () => {
    const { contents, ...record } = scratch.records.get(id)!;
    await scratch.records.put(record);
    await scratch.open({ verified: false });
    expect(await scratch.codebases.get(id)).toMatchObject({
      file_count: 0,
      status_reason: 'the files are not counted yet',
    });
    await scratch.verifyTotals();
    expect(await scratch.codebases.get(id)).toMatchObject({ file_count: 1, total_size: 5, status_reason: '' });
  });
});

it('a record that cannot be stored does not prevent a change, nor a full disk the removal of files', async () => {
  await restart();
  scratch.records.fail = new Error('full');
  await scratch.codebases.removeFile(id, 'd/a');
  expect(await scratch.counted(id)).toEqual([0, 0]);
});

it('a codebase that is deleted meanwhile is NOT_FOUND, and one without its files is told', async () => {
  await restart();
  const [got] = await Promise.allSettled([scratch.codebases.get(id), scratch.codebases.delete(id)]);
  if (got.status === 'rejected') expect(got.reason).toMatchObject({ code: 'NOT_FOUND' });
  const other = await scratch.codebase();
  rmSync(scratch.files(other), { recursive: true });
  await expect(scratch.codebases.get(other)).rejects.toMatchObject({ code: 'DATA_LOSS' });
});

it('totals that would be negative are wrong', () => {
  const totals = new Totals({ files: 1, bytes: 5, directories: 0 }, true);
  totals.add({ files: -2, bytes: -4, directories: 0 });
  expect([totals.known, totals.isWrong]).toEqual([{ files: 0, bytes: 1, directories: 0 }, true]);
});
