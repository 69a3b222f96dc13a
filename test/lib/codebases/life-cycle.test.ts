import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Storage } from '../../../lib/codebases/storage.ts';
import { newId } from '../../../lib/ids.ts';
import { silentLog } from '../../../lib/log.ts';
import { chunks, codeOf, Scratch } from './scratch.ts';

let scratch: Scratch;
beforeEach(async () => {
  scratch = new Scratch();
  await scratch.open();
});
afterEach(() => scratch.remove());

describe('creating a codebase', () => {
  it('returns an empty codebase, which Get finds', async () => {
    const created = await scratch.codebases.create({ name: 'Ünïcode 😀', owner_id: '' });
    expect(created).toMatchObject({ name: 'Ünïcode 😀', owner_id: '', file_count: 0, total_size: 0 });
    expect(created.id).toMatch(/^cb_[0-9a-z]{25}$/);
    expect(Math.abs(created.created_at - Date.now() / 1000)).toBeLessThan(60);
    expect(await scratch.codebases.get(created.id)).toEqual(created);
  });

  it('leaves nothing when its record cannot be stored', async () => {
    scratch.records.fail = new Error('disk full');
    await expect(scratch.codebases.create({ name: 'a', owner_id: '' })).rejects.toThrow('disk full');
    expect(scratch.everything()).toEqual([]);
  });
});

describe('an id of another form', () => {
  it.each(['', '.', '..', 'cb_', 'cb_../../etc', `${newId('cb')}`, newId('sb'), 'constructor', 'x'.repeat(10_000)])(
    'is NOT_FOUND for every operation: %#',
    async (id) => {
      const { codebases } = scratch;
      const page = { page_size: 100, page_token: '' };
      const calls = [
        codebases.get(id),
        codebases.delete(id),
        codebases.upload(id, 'a', chunks('x')),
        codebases.open(id, 'a'),
        codebases.removeFile(id, 'a'),
        codebases.listFiles(id, { path: '', recursive: false, ...page }),
      ];
      expect(await Promise.all(calls.map(codeOf))).toEqual(calls.map(() => 'NOT_FOUND'));
    },
  );
});

describe('listing codebases', () => {
  it('lists the newest first, in pages, and filters by owner', async () => {
    const ids: string[] = [];
    for (const owner_id of ['a', 'b', 'a', 'a']) ids.push((await scratch.codebases.create({ name: 'x', owner_id })).id);
    const mine = ids
      .filter((_, i) => i !== 1)
      .toSorted()
      .reverse();
    const first = await scratch.codebases.list({ owner_id: 'a', page_size: 2, page_token: '' });
    expect(first.codebases.map(({ id }) => id)).toEqual(mine.slice(0, 2));
    const second = await scratch.codebases.list({ owner_id: 'a', page_size: 2, page_token: first.next_page_token });
    expect(second.codebases.map(({ id }) => id)).toEqual(mine.slice(2));
    expect(second.next_page_token).toBe('');
    const all = await scratch.codebases.list({ owner_id: '', page_size: 100, page_token: '' });
    expect(all.codebases.map(({ id }) => id)).toEqual(ids.toSorted().reverse());
    const foreign = { owner_id: 'b', page_size: 2, page_token: first.next_page_token };
    expect(await codeOf(scratch.codebases.list(foreign))).toBe('INVALID_ARGUMENT');
  });
});

describe('deleting a codebase', () => {
  it('removes record and files', async () => {
    const id = await scratch.codebase();
    await scratch.upload(id, 'a/b');
    await scratch.codebases.delete(id);
    expect(await codeOf(scratch.codebases.get(id))).toBe('NOT_FOUND');
    expect(scratch.everything()).toEqual([]);
  });

  it('is refused while sandboxes use it, naming them', async () => {
    const id = await scratch.codebase();
    scratch.sandboxes = ['sb_1', 'sb_2'];
    await expect(scratch.codebases.delete(id)).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: expect.stringContaining('sb_1, sb_2'),
    });
    scratch.sandboxes = [];
    await scratch.upload(id, 'a');
    expect(await scratch.text(id, 'a')).toBe('a');
  });

  it('is refused in a short message however many sandboxes use it', async () => {
    const id = await scratch.codebase();
    scratch.sandboxes = Array.from({ length: 10_000 }, () => newId('sb'));
    const error = await scratch.codebases.delete(id).catch((thrown: Error) => thrown);
    expect(String(error)).toMatch(/ and 9950 more$/);
    expect(String(error).length).toBeLessThan(2000);
  });

  it('is refused for a sandbox that was created during the deletion', async () => {
    const id = await scratch.codebase();
    const deleting = scratch.codebases.delete(id);
    scratch.sandboxes = ['sb_1'];
    expect(await codeOf(deleting)).toBe('FAILED_PRECONDITION');
    await scratch.upload(id, 'a');
    expect(readdirSync(join(scratch.path, 'codebases'))).toEqual([id]);
  });

  it('changes nothing when the record cannot be removed', async () => {
    const id = await scratch.codebase();
    await scratch.upload(id, 'a');
    scratch.records.fail = new Error('disk full');
    await expect(scratch.codebases.delete(id)).rejects.toThrow('disk full');
    await scratch.open();
    expect(await scratch.text(id, 'a')).toBe('a');
  });

  it('ends an upload in progress with NOT_FOUND, and leaves no part of it', async () => {
    const id = await scratch.codebase();
    async function* slow() {
      yield Buffer.from('x');
      await scratch.codebases.delete(id);
      yield Buffer.from('y');
    }
    expect(await codeOf(scratch.codebases.upload(id, 'a', slow()))).toBe('NOT_FOUND');
    expect(scratch.everything()).toEqual([]);
  });

  it('leaves nothing if the remains of a crash are removed meanwhile, or were not yet', async () => {
    const ids = [await scratch.codebase(), await scratch.codebase()];
    const storage = new Storage(join(scratch.path, 'codebases'));
    await storage.recover(() => true, silentLog);
    await storage.remove(ids[1]!);
    const cleaning = storage.cleanAll(silentLog, () => false);
    await storage.remove(ids[0]!);
    await cleaning;
    expect(scratch.everything()).toEqual([]);
  });

  it('lets a download in progress finish', async () => {
    const id = await scratch.codebase();
    await scratch.upload(id, 'a', 'content');
    const file = await scratch.codebases.open(id, 'a');
    await scratch.codebases.delete(id);
    expect((await file.read().toArray()).join('')).toBe('content');
    await file.close();
  });
});

describe('a start after a crash', () => {
  it('removes unfinished uploads', async () => {
    const id = await scratch.codebase();
    await scratch.upload(id, 'a');
    writeFileSync(join(scratch.path, 'codebases', id, 'tmp/half'), 'x');
    await scratch.open();
    expect(scratch.incoming(id)).toEqual([]);
    expect(await scratch.text(id, 'a')).toBe('a');
  });

  it('finishes a deletion whose record is gone', async () => {
    const id = await scratch.codebase();
    await scratch.upload(id, 'a/b/c');
    writeFileSync(join(scratch.path, 'codebases', `.deleting-${id}`), '');
    scratch.records.map.delete(id);
    await scratch.open();
    expect(scratch.everything()).toEqual([]);
  });

  it('cancels a deletion whose record still exists', async () => {
    const id = await scratch.codebase();
    await scratch.upload(id, 'a');
    writeFileSync(join(scratch.path, 'codebases', `.deleting-${id}`), '');
    await scratch.open();
    await scratch.open();
    expect(await scratch.text(id, 'a')).toBe('a');
    expect(readdirSync(join(scratch.path, 'codebases'))).toEqual([id]);
  });

  it('removes the empty directory of a creation that was not recorded', async () => {
    const id = await scratch.codebase();
    scratch.records.map.delete(id);
    await scratch.open();
    expect(scratch.everything()).toEqual([]);
  });

  it('never removes files because a record is missing', async () => {
    const id = await scratch.codebase();
    await scratch.upload(id, 'a');
    scratch.records.map.delete(id);
    await scratch.open();
    expect(existsSync(join(scratch.files(id), 'a'))).toBe(true);
  });

  it('keeps files that the server did not create', async () => {
    mkdirSync(join(scratch.path, 'codebases/lost+found'));
    writeFileSync(join(scratch.path, 'codebases/.deleting-..'), '');
    await scratch.open();
    expect(scratch.everything()).toEqual(['.deleting-..', 'lost+found']);
  });

  it('logs that the files of a recorded codebase are missing', async () => {
    const id = await scratch.codebase();
    await scratch.codebases.get(id);
    scratch.remove();
    await scratch.open();
    expect(await codeOf(scratch.codebases.open(id, 'a'))).toBe('DATA_LOSS');
  });
});
