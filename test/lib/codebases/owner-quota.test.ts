import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import type { Step } from '../../../lib/codebases/commits/commit-steps.ts';
import { NO_LIMITS } from '../../../lib/limits/limits.ts';
import { chunks, codeOf, Scratch } from './scratch.ts';

let scratch: Scratch;
const limits = { ...NO_LIMITS };
beforeEach(async () => {
  Object.assign(limits, NO_LIMITS);
  scratch = new Scratch();
  scratch.owners = {
    of: (owner) => (owner === 'bob' ? NO_LIMITS : limits),
    placeOf: (_owner, limit) => `limits.per_owner.${limit}`,
  };
  await scratch.open();
});
afterEach(() => scratch.remove());

const text = (length: number) => 'x'.repeat(length);
const create = (owner_id = 'ann') => scratch.codebases.create({ name: 'c', owner_id });

/** A commit that puts one new file of `size` bytes. */
function commit(id: string, path: string, size: number) {
  const growth = { files: 1, bytes: size, directories: 0 };
  return scratch.codebases.apply(id, async (staging, admit) => {
    await admit(growth);
    writeFileSync(join(staging, '0'), text(size));
    const stages = [{ steps: [['put', fromText(path), fromText('0')] as Step], settled: [] }];
    return { sandboxId: 'sb', stages, givenUp: [], paths: [fromText(path)], removed: [], growth };
  });
}

describe('the number of codebases of an owner', () => {
  it('is limited, also for those created at the same time, and not for other owners', async () => {
    limits.codebases = 2;
    const codes = await Promise.all([1, 2, 3, 4].map(() => codeOf(create())));
    expect(codes.toSorted()).toEqual(['RESOURCE_EXHAUSTED', 'RESOURCE_EXHAUSTED', 'fulfilled', 'fulfilled']);
    await expect(create()).rejects.toThrow('owner "ann" has 2 codebases, the most is 2 (limits.per_owner.codebases)');
    for (let i = 0; i < 3; i++) await create('bob');
  });

  it('counts neither deleted ones nor those that could not be stored', async () => {
    limits.codebases = 1;
    scratch.records.fail = new Error('disk full');
    await expect(create()).rejects.toThrow('disk full');
    const { id } = await create();
    await scratch.codebases.delete(id);
    await create();
  });
});

describe('the stored bytes of an owner', () => {
  let one: string;
  let two: string;
  beforeEach(async () => {
    one = (await create()).id;
    two = (await create()).id;
    limits.stored_bytes = 100;
  });

  it('are those of all its codebases, by upload', async () => {
    await scratch.upload(one, 'a', text(60));
    const upload = scratch.upload(two, 'b', text(41));
    await expect(upload).rejects.toThrow(
      'the codebases of owner "ann" would hold 101 bytes, the most is 100 (limits.per_owner.stored_bytes)',
    );
    expect([readdirSync(scratch.files(two)), scratch.incoming(two)]).toEqual([[], []]);
    await scratch.upload(two, 'b', text(40));
    await scratch.upload(one, 'a', text(59));
    await scratch.upload(two, 'c', 'x');
    await scratch.upload((await create('bob')).id, 'a', text(500));
  });

  it('are those of all its codebases, by commit', async () => {
    await commit(one, 'a', 60);
    expect(await codeOf(commit(two, 'b', 41))).toBe('RESOURCE_EXHAUSTED');
    expect(readdirSync(scratch.files(two))).toEqual([]);
    await commit(two, 'b', 40);
    expect(await codeOf(scratch.upload(one, 'c', 'x'))).toBe('RESOURCE_EXHAUSTED');
    await scratch.codebases.removeFile(one, 'a');
    await scratch.upload(one, 'c', text(60));
  });

  it('end an upload as soon as it is too large', async () => {
    await scratch.upload(one, 'a', text(60));
    let sent = 0;
    async function* endless() {
      for (;;) {
        sent++;
        yield* chunks(text(10));
      }
    }
    expect(await codeOf(scratch.codebases.upload(two, 'b', endless()))).toBe('RESOURCE_EXHAUSTED');
    expect(sent).toBe(5);
  });

  it('are not exceeded by uploads to several codebases at once', async () => {
    const ids = [one, two, (await create()).id, (await create()).id];
    const codes = await Promise.all(ids.map((id) => codeOf(scratch.upload(id, 'f', text(40)))));
    expect(codes.toSorted()).toEqual(['RESOURCE_EXHAUSTED', 'RESOURCE_EXHAUSTED', 'fulfilled', 'fulfilled']);
  });

  it('count after a restart what was stored before, and no deleted codebase', async () => {
    await scratch.upload(one, 'a', text(60));
    await scratch.open();
    expect(await codeOf(scratch.upload(two, 'b', text(41)))).toBe('RESOURCE_EXHAUSTED');
    await scratch.codebases.delete(one);
    await scratch.upload(two, 'b', text(100));
  });
});
