import { existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import type { Step } from '../../../lib/codebases/commits/commit-steps.ts';
import type { Contents } from '../../../lib/codebases/totals.ts';
import { chunks, codeOf, Scratch } from './scratch.ts';

let scratch: Scratch;
let id: string;
beforeEach(async () => {
  scratch = new Scratch();
  scratch.limits = { maxBytes: 100, maxFiles: 5 };
  await scratch.open();
  id = await scratch.codebase();
});
afterEach(() => scratch.remove());

const text = (length: number) => 'x'.repeat(length);

function messageOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'fulfilled',
    (error: Error) => error.message,
  );
}

/** A commit that puts one file of the given size at `path`, where there is none. */
function commit(path: string, size: number, growth: Contents = { files: 1, bytes: size, directories: 0 }) {
  return scratch.codebases.apply(id, async (staging, admit) => {
    await admit(growth);
    writeFileSync(join(staging, '0'), text(size));
    const stages = [{ steps: [['put', fromText(path), fromText('0')] as Step], settled: [] }];
    return { sandboxId: 'sb', stages, givenUp: [], paths: [fromText(path)], removed: [], growth };
  });
}

describe('storage.max_codebase_bytes', () => {
  it('refuses an upload that exceeds it and leaves no part of it', async () => {
    await scratch.upload(id, 'a', text(60));
    const upload = scratch.upload(id, 'new/b', text(41));
    expect(await codeOf(upload)).toBe('RESOURCE_EXHAUSTED');
    expect(await messageOf(upload)).toBe(
      'the codebase would hold 101 bytes, the most is 100 (storage.max_codebase_bytes)',
    );
    expect(existsSync(join(scratch.files(id), 'new'))).toBe(false);
    expect(scratch.incoming(id)).toEqual([]);
    await scratch.upload(id, 'new/b', text(40));
    expect(await scratch.counted(id)).toEqual([2, 100]);
  });

  it('counts the difference when a file is replaced, and frees the size of removed files', async () => {
    await scratch.upload(id, 'a', text(90));
    await scratch.upload(id, 'a', text(100));
    expect(await codeOf(scratch.upload(id, 'a', text(101)))).toBe('RESOURCE_EXHAUSTED');
    expect(await scratch.text(id, 'a')).toBe(text(100));
    expect(await codeOf(scratch.upload(id, 'b', 'x'))).toBe('RESOURCE_EXHAUSTED');
    await scratch.codebases.removeFile(id, 'a');
    await scratch.upload(id, 'b', text(100));
  });

  it('ends an upload as soon as it is too large', async () => {
    await scratch.upload(id, 'a', text(60));
    let sent = 0;
    async function* endless() {
      for (;;) {
        sent++;
        yield Buffer.from(text(10));
      }
    }
    expect(await codeOf(scratch.codebases.upload(id, 'b', endless()))).toBe('RESOURCE_EXHAUSTED');
    expect(sent).toBe(5);
    expect(scratch.incoming(id)).toEqual([]);
  });

  it('is not exceeded by concurrent uploads', async () => {
    const codes = await Promise.all(Array.from({ length: 4 }, (_, i) => codeOf(scratch.upload(id, `f${i}`, text(40)))));
    expect(codes.toSorted()).toEqual(['RESOURCE_EXHAUSTED', 'RESOURCE_EXHAUSTED', 'fulfilled', 'fulfilled']);
    expect(await scratch.counted(id)).toEqual([2, 80]);
    expect(scratch.incoming(id)).toEqual([]);
  });

  it('refuses a commit that exceeds it before anything is staged', async () => {
    await scratch.upload(id, 'a', text(60));
    expect(await codeOf(commit('b', 41))).toBe('RESOURCE_EXHAUSTED');
    expect(scratch.everything().filter((path) => path.includes('commit'))).toEqual([]);
    expect(readdirSync(scratch.files(id))).toEqual(['a']);
    await commit('b', 40);
    expect(await codeOf(scratch.upload(id, 'c', 'x'))).toBe('RESOURCE_EXHAUSTED');
    expect(await scratch.counted(id)).toEqual([2, 100]);
  });

  it('counts the staged bytes of a commit, not the announced ones', async () => {
    await scratch.upload(id, 'a', text(10));
    await commit('b', 10, { files: 1, bytes: 85, directories: 0 });
    await scratch.upload(id, 'c', text(70));
    expect(await scratch.counted(id)).toEqual([3, 90]);
  });

  it('holds after a restart, also for a codebase that already exceeds it', async () => {
    await scratch.upload(id, 'a', text(60));
    symlinkSync(text(50), join(scratch.files(id), 'link'));
    await scratch.open();
    expect(await codeOf(scratch.upload(id, 'b', 'x'))).toBe('RESOURCE_EXHAUSTED');
    expect(await scratch.text(id, 'a')).toBe(text(60));
    await scratch.upload(id, 'empty', '');
    await scratch.upload(id, 'a', text(59));
    await commit('c', 0, { files: 1, bytes: 0, directories: 0 });
    await scratch.codebases.removeFile(id, 'a');
    await scratch.upload(id, 'b', text(50));
  });
});

describe('storage.max_codebase_files', () => {
  it('counts files and directories, and no longer those that are removed', async () => {
    await scratch.upload(id, 'd/e/a', '');
    await scratch.upload(id, 'b', '');
    const upload = scratch.upload(id, 'f/c', '');
    expect(await codeOf(upload)).toBe('RESOURCE_EXHAUSTED');
    expect(await messageOf(upload)).toBe(
      'the codebase would hold 6 files and directories, the most is 5 (storage.max_codebase_files)',
    );
    expect(readdirSync(scratch.files(id)).toSorted()).toEqual(['b', 'd']);
    await scratch.upload(id, 'c', '');
    await scratch.upload(id, 'c', 'replaced');
    await scratch.codebases.removeFile(id, 'd/e/a');
    await scratch.upload(id, 'x/y/z', '');
    expect(await codeOf(scratch.upload(id, 'x/y/zz', ''))).toBe('RESOURCE_EXHAUSTED');
  });

  it('refuses a commit of too many directories', async () => {
    await scratch.upload(id, 'a', '');
    expect(await codeOf(commit('b', 0, { files: 1, bytes: 0, directories: 4 }))).toBe('RESOURCE_EXHAUSTED');
  });
});

describe('without limits', () => {
  it('every upload is accepted', async () => {
    scratch.limits = { maxBytes: 0, maxFiles: 0 };
    await scratch.open();
    await scratch.codebases.upload(id, 'a', chunks(text(1000)));
    await commit('b', 1000);
    expect(await scratch.counted(id)).toEqual([2, 2000]);
  });
});
