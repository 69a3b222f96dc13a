import { beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../lib/errors.ts';
import { codeOf, TreeScratch } from './trees.ts';

let scratch: TreeScratch;
beforeEach(() => {
  scratch = new TreeScratch();
  scratch.limits = { maxBytes: 100, maxFiles: 5 };
  scratch.open();
});

const text = (length: number) => 'x'.repeat(length);

describe('storage.max_codebase_bytes', () => {
  it('refuses an upload that exceeds it and leaves no part of it', async () => {
    await scratch.put('a', text(60));
    await expect(scratch.put('new/b', text(41))).rejects.toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      message: 'the codebase would hold 101 bytes, the most is 100 (storage.max_codebase_bytes)',
    });
    expect(scratch.list()).toEqual(['a']);
    await scratch.put('new/b', text(40));
    expect(scratch.counted).toEqual([2, 100]);
  });

  it('counts the difference when a file is replaced, and frees the size of removed files', async () => {
    await scratch.put('a', text(90));
    await scratch.put('a', text(100));
    expect(await codeOf(() => scratch.put('a', text(101)))).toBe('RESOURCE_EXHAUSTED');
    expect(scratch.text('a')).toBe(text(100));
    expect(await codeOf(() => scratch.put('b', 'x'))).toBe('RESOURCE_EXHAUSTED');
    await scratch.codebase.remove('a');
    await scratch.put('b', text(100));
  });

  it('ends an upload as soon as it is too large', async () => {
    await scratch.put('a', text(60));
    const upload = scratch.codebase.upload('b');
    for (let n = 0; n < 4; n++) upload.write(Buffer.from(text(10)));
    expect(() => upload.write(Buffer.from(text(10)))).toThrow(expect.objectContaining({ code: 'RESOURCE_EXHAUSTED' }));
    upload.drop();
  });

  it('is not exceeded by uploads that become one version', async () => {
    const codes = await Promise.all([1, 2, 3, 4].map((n) => codeOf(() => scratch.put(`f${n}`, text(40)))));
    expect(codes.toSorted()).toEqual(['RESOURCE_EXHAUSTED', 'RESOURCE_EXHAUSTED', 'fulfilled', 'fulfilled']);
    expect(scratch.counted).toEqual([2, 80]);
    expect(scratch.codebase.head.number).toBe(2);
  });

  it('lets a codebase that exceeds it already become smaller', async () => {
    await scratch.put('a', text(60));
    await scratch.put('b', text(40));
    scratch.limits = { maxBytes: 50, maxFiles: 0 };
    scratch.open();
    expect(await codeOf(() => scratch.put('c', 'x'))).toBe('RESOURCE_EXHAUSTED');
    await scratch.put('empty', '');
    await scratch.put('a', text(59));
    await scratch.codebase.remove('a');
    await scratch.put('c', text(10));
    expect(scratch.counted).toEqual([3, 50]);
  });
});

describe('storage.max_codebase_files', () => {
  it('counts files and directories, and no longer those that are removed', async () => {
    await scratch.put('d/e/a', '');
    await scratch.put('b', '');
    await expect(scratch.put('f/c', '')).rejects.toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      message: 'the codebase would hold 6 files and directories, the most is 5 (storage.max_codebase_files)',
    });
    await scratch.put('c', '');
    await scratch.put('c', 'replaced');
    await scratch.codebase.remove('d/e/a');
    await scratch.put('x/y/z', '');
    expect(await codeOf(() => scratch.put('x/y/zz', ''))).toBe('RESOURCE_EXHAUSTED');
  });
});

describe('the bytes of an owner', () => {
  it('are asked for all changes of one version together, and are free again after it', async () => {
    const reserved: number[] = [];
    scratch.limits = { maxBytes: 0, maxFiles: 0 };
    scratch.share = {
      isLimited: () => true,
      room: () => 100 - scratch.counted[1],
      refusal: (bytes) =>
        bytes > 100 - scratch.counted[1] ? new ServiceError('RESOURCE_EXHAUSTED', 'too much') : undefined,
      reserve: (bytes) => void reserved.push(bytes),
      release: () => void reserved.push(-1),
    };
    scratch.open();
    const codes = await Promise.all([1, 2, 3].map((n) => codeOf(() => scratch.put(`f${n}`, text(40)))));
    expect(codes).toEqual(['fulfilled', 'fulfilled', 'RESOURCE_EXHAUSTED']);
    expect(reserved).toEqual([40, 80, -1]);
  });
});
