import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KIND, kindOf } from '../../../../../lib/trees/format/keys.ts';
import { OnHost } from './on-host.ts';

const SIZES = [5, 4096, 4097, 65_536, 65_537, 5 << 20];
const bytesOf = (size: number) => Buffer.from(Array.from({ length: Math.min(size, 70_001) }, (_, n) => 1 + (n % 251)));
const filled = (size: number) => Buffer.alloc(size, bytesOf(size));

describe('contents of a live tree', () => {
  let on: OnHost;
  beforeEach(() => {
    on = new OnHost();
  });
  afterEach(() => on.end());

  it.each(SIZES)('of %i bytes are read from the codebase, whole and in parts', (size) => {
    on.published('f', filled(size));
    const entry = on.entry('f');
    expect(kindOf(entry.key)).toBe(KIND.hash);
    expect(on.all(entry).equals(filled(size))).toBe(true);
    const part = Buffer.alloc(3);
    expect([on.contents.read(entry, size - 2, part), on.contents.read(entry, size, part)]).toEqual([2, 0]);
    expect(part.subarray(0, 2)).toEqual(filled(size).subarray(size - 2));
  });

  it.each(SIZES)('of %i bytes are the sandbox’s own after a write, and the codebase’s stay', (size) => {
    on.published('f', filled(size));
    const before = on.entry('f');
    on.write('f', 1, 'xyz');
    const expected = filled(size);
    expected.write('xyz', 1);
    expect(on.all(on.entry('f')).equals(expected)).toBe(true);
    expect(on.all(before).equals(filled(size))).toBe(true);
  });

  it.each(SIZES)(
    'of %i bytes, frozen for others, stay as they are after a write, a truncation and new text',
    (size) => {
      on.made('f');
      on.write('f', 0, filled(size));
      on.freeze(true);
      const frozen = on.entry('f');
      for (const change of [
        () => on.write('f', size - 1, 'ab'),
        () => on.contents.truncate(on.own('f'), 3),
        () => on.contents.truncate(on.own('f'), 0),
        () => on.contents.makeText(on.own('f'), Buffer.from('text')),
      ]) {
        change();
        expect(on.all(frozen).equals(filled(size))).toBe(true);
        on.freeze(true);
      }
      expect(on.all(on.entry('f')).toString()).toBe('text');
      expect(on.entry('f').agentText).toBe(true);
    },
  );

  it('that were frozen for the sandbox alone are written in their place if they have a file', () => {
    on.made('f');
    on.write('f', 0, filled(70_000));
    const files = on.files();
    on.freeze(false);
    on.write('f', 0, 'x');
    expect(on.files()).toEqual(files);
    expect(on.all(on.entry('f')).toString('latin1', 0, 3)).toBe('x\x02\x03');
  });

  it('have another key after each write between two freezes', () => {
    on.made('f');
    const keys = [];
    for (const size of [5, 5, 70_000, 70_000, 70_000]) {
      on.write('f', 0, filled(size));
      on.freeze(false);
      keys.push(on.entry('f').key);
    }
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('with a hole have zeros there, which are not counted', () => {
    on.made('f');
    on.write('f', 10 << 20, 'end');
    const { size, holes } = on.entry('f');
    expect(size).toBe((10 << 20) + 3);
    expect(holes).toBeGreaterThan(9 << 20);
    expect(on.live.tree.totals.ownBytes).toBeLessThan(1 << 20);
    expect(on.all(on.entry('f')).equals(Buffer.concat([Buffer.alloc(10 << 20), Buffer.from('end')]))).toBe(true);
  });

  it('that a program only truncates to nothing are not copied', () => {
    on.published('f', filled(5 << 20));
    on.contents.truncate(on.own('f'), 0);
    expect(on.entry('f').size).toBe(0);
    expect(() => on.files()).toThrow('ENOENT');
  });
});
