import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hostDisk } from '../../../../lib/disk/host-disk.ts';
import { newId } from '../../../../lib/ids.ts';
import { NO_LIMITS } from '../../../../lib/limits/limits.ts';
import { chunks, codeOf } from '../scratch.ts';
import { archiveOf } from './archives.ts';
import { ServiceScratch } from './service.ts';

let scratch: ServiceScratch;
beforeEach(async () => {
  scratch = new ServiceScratch();
  await scratch.open();
});
afterEach(() => scratch.remove());

const large = 'l'.repeat(3_000_000);
const totalsOf = async (id: string) => {
  const { file_count, total_size, totals_outdated } = await scratch.codebases.get(id);
  return [file_count, total_size, totals_outdated];
};

describe('files', () => {
  it('of any size are stored, read whole and by ranges, and counted exactly', async () => {
    const id = await scratch.create();
    for (const [path, text] of [
      ['empty', ''],
      ['d/small', 'small'],
      ['large', large],
    ] as const) {
      expect((await scratch.upload(id, path, text)).size).toBe(text.length);
      expect(await scratch.text(id, path)).toBe(text);
    }
    expect(await scratch.text(id, 'large', { start: 1_000_000, end: 1_000_009 })).toBe('lllllllll');
    expect(await scratch.text(id, 'd/small', { start: 1, end: 3 })).toBe('ma');
    expect(await totalsOf(id)).toEqual([3, 3_000_005, false]);
    expect(await scratch.list(id)).toEqual(['d', 'd/small', 'empty', 'large']);
    await scratch.codebases.removeFile(id, 'd/small');
    expect(await totalsOf(id)).toEqual([2, 3_000_000, false]);
  });

  it('are the same after a start that nothing was ended before', async () => {
    const id = await scratch.create();
    await scratch.upload(id, 'a', 'first');
    await scratch.upload(id, 'a', 'second');
    const before = await scratch.codebases.get(id);
    await scratch.open();
    expect(await scratch.codebases.get(id)).toEqual(before);
    expect(await scratch.text(id, 'a')).toBe('second');
  });

  it('are read in the version that was opened', async () => {
    const id = await scratch.create();
    await scratch.upload(id, 'a', large);
    const file = await scratch.codebases.open(id, 'a');
    await scratch.upload(id, 'a', 'new');
    let length = 0;
    for await (const piece of file.read()) length += piece.length;
    await file.close();
    expect(length).toBe(large.length);
    expect(await scratch.text(id, 'a')).toBe('new');
  });

  it('come back from an export as they were imported', async () => {
    const [from, to] = [await scratch.create(), await scratch.create()];
    const members = archiveOf([
      ['d', 'directory', 0o755],
      ['d/a', 'a'],
      ['d/l', { to: 'a' }],
      ['x', large, 0o755],
    ]);
    await scratch.codebases.importArchive(from, 'replace', chunks(members.subarray(0, 700), members.subarray(700)));
    const exported = await scratch.export(from);
    await scratch.codebases.importArchive(to, 'replace', chunks(exported));
    expect((await scratch.export(to)).equals(exported)).toBe(true);
    await expect(scratch.export(to, 'absent')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('stay as they are, and nothing is left, when the client vanishes in the middle', async () => {
    const id = await scratch.create();
    await scratch.upload(id, 'a', 'old');
    const { revision } = await scratch.codebases.get(id);
    const gone = new Error('the client is gone');
    for (const before of ['some', large]) {
      await expect(scratch.codebases.upload(id, 'a', chunks(before, gone))).rejects.toThrow('gone');
      const archive = archiveOf([
        ['b', before],
        ['c', 'c'],
      ]);
      const cut = chunks(archive.subarray(0, archive.length - 1500), gone);
      await expect(scratch.codebases.importArchive(id, 'replace', cut)).rejects.toThrow('gone');
    }
    expect(scratch.unfinished(id)).toEqual([]);
    expect(await scratch.codebases.get(id)).toMatchObject({ revision, file_count: 1 });
  });
});

describe('what an owner stores', () => {
  const limits = { ...NO_LIMITS };
  beforeEach(async () => {
    Object.assign(limits, NO_LIMITS, { stored_bytes: 1000, codebases: 2 });
    scratch.owners = { of: () => limits, placeOf: (_, limit) => `limits.per_owner.${limit}` };
    await scratch.open();
  });

  it('is limited over all its codebases, also for uploads at once', async () => {
    const [one, two] = [await scratch.create(), await scratch.create()];
    await expect(scratch.create()).rejects.toThrow('owner "me" has 2 codebases, the most is 2');
    await scratch.upload(two, 'a', 'x'.repeat(400));
    const codes = await Promise.all(
      [one, one, two, two].map((id, index) => codeOf(scratch.upload(id, `f${index}`, 'x'.repeat(250)))),
    );
    expect(codes.toSorted()).toEqual(['RESOURCE_EXHAUSTED', 'RESOURCE_EXHAUSTED', 'fulfilled', 'fulfilled']);
    await expect(scratch.upload(one, 'more', 'x'.repeat(101))).rejects.toThrow(
      'the codebases of owner "me" would hold 1001 bytes, the most is 1000 (limits.per_owner.stored_bytes)',
    );
  });

  it('may grow again after a removal, a deletion, and a higher limit', async () => {
    const [one, two] = [await scratch.create(), await scratch.create()];
    await scratch.upload(one, 'a', 'x'.repeat(600));
    await scratch.upload(two, 'a', 'x'.repeat(400));
    const more = () => codeOf(scratch.upload(two, 'b', 'x'.repeat(400)));
    expect(await more()).toBe('RESOURCE_EXHAUSTED');
    await scratch.codebases.delete(one);
    expect(await more()).toBe('fulfilled');
    const archive = archiveOf([['c', 'x'.repeat(400)]]);
    const bring = () => codeOf(scratch.codebases.importArchive(two, 'merge', chunks(archive)));
    expect(await bring()).toBe('RESOURCE_EXHAUSTED');
    limits.stored_bytes = 1200;
    expect(await bring()).toBe('fulfilled');
  });
});

describe('a deletion', () => {
  it('leaves nothing on the disk', async () => {
    const id = await scratch.create();
    await scratch.upload(id, 'a', large);
    await scratch.codebases.delete(id);
    expect(scratch.names).toEqual([]);
    await expect(scratch.codebases.get(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(scratch.list(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('is refused while sandboxes use the codebase, and leaves no mark', async () => {
    const id = await scratch.create();
    await scratch.upload(id, 'a');
    scratch.sandboxes = ['sb_1'];
    await expect(scratch.codebases.delete(id)).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
    expect(scratch.names).toEqual([id]);
  });

  it('answers NOT_FOUND to what goes on in the codebase, and to a second one', async () => {
    const id = await scratch.create();
    await scratch.upload(id, 'a', large);
    const file = await scratch.codebases.open(id, 'a');
    let proceed = () => {};
    const waiting = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    async function* slow() {
      yield Buffer.from(large);
      await waiting;
    }
    const upload = codeOf(scratch.codebases.upload(id, 'b', slow()));
    const exporting = (await scratch.codebases.exportArchive(id, ''))[Symbol.asyncIterator]();
    await exporting.next();
    const codes = await Promise.all([codeOf(scratch.codebases.delete(id)), codeOf(scratch.codebases.delete(id))]);
    expect(codes.toSorted()).toEqual(['NOT_FOUND', 'fulfilled']);
    proceed();
    expect(await upload).toBe('NOT_FOUND');
    await file.close();
    await exporting.return?.();
    expect(scratch.names.filter((name) => name === id)).toEqual([]);
  });
});

describe('a start', () => {
  it('removes what a deletion left that a crash cut off', async () => {
    const gone = await scratch.create();
    await scratch.upload(gone, 'a', large);
    await scratch.metadata.codebases.remove(gone);
    writeFileSync(join(scratch.folder, `.deleting-${gone}`), '');
    await scratch.open();
    expect(scratch.names).toEqual([]);
  });

  it('keeps a codebase with a record, whatever mark it has', async () => {
    const id = await scratch.create();
    await scratch.upload(id, 'a');
    writeFileSync(join(scratch.folder, `.deleting-${id}`), '');
    await scratch.open();
    expect(scratch.names).toEqual([id]);
    expect(await scratch.text(id, 'a')).toBe('a');
  });

  it('keeps a store that has neither record nor mark, and removes an empty folder', async () => {
    const [kept, empty] = [await scratch.create(), newId('cb')];
    await scratch.upload(kept, 'a');
    await scratch.metadata.codebases.remove(kept);
    mkdirSync(join(scratch.folder, empty));
    await scratch.open();
    expect(scratch.names).toEqual([kept]);
  });

  it('refuses a damaged head by the id of its codebase', async () => {
    const id = await scratch.create();
    const record = scratch.metadata.codebases.get(id)!;
    await scratch.metadata.codebases.put({ ...record, tree: { ...record.tree!, root: 'AAAA' } });
    await expect(scratch.open()).rejects.toThrow(`storage.db_path: the head of ${id} is damaged: `);
    await scratch.metadata.codebases.put(record);
  });
});

it('a codebase whose store is gone is DATA_LOSS, and can be deleted; others are not affected', async () => {
  const [lost, other] = [await scratch.create(), await scratch.create()];
  await scratch.upload(lost, 'a');
  await scratch.upload(other, 'a');
  await scratch.open();
  rmSync(join(scratch.folder, lost), { recursive: true });
  expect(await codeOf(scratch.list(lost))).toBe('DATA_LOSS');
  expect(await codeOf(scratch.upload(lost, 'a'))).toBe('DATA_LOSS');
  expect(await scratch.text(other, 'a')).toBe('a');
  await scratch.codebases.delete(lost);
  expect(scratch.names).toEqual([other]);
});

it('a codebase is made on the disk when it is used first, again and again until that succeeds', async () => {
  const id = await scratch.create();
  expect(scratch.names).toEqual([]);
  for (let calls = 0; ; calls++) {
    let left = calls;
    const failing =
      (call: (...args: never[]) => unknown) =>
      (...args: never[]) => {
        if (left-- === 0) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
        return call(...args);
      };
    scratch.disk = Object.fromEntries(Object.entries(hostDisk).map(([name, call]) => [name, failing(call)])) as never;
    await scratch.open();
    const code = await codeOf(scratch.upload(id, 'a', 'a'));
    if (code === 'fulfilled') break;
    expect(code).toBe('RESOURCE_EXHAUSTED');
    expect(await scratch.codebases.get(id)).toMatchObject({ file_count: 0 });
  }
  scratch.disk = hostDisk;
  await scratch.open();
  expect(await scratch.list(id)).toEqual(['a']);
});
