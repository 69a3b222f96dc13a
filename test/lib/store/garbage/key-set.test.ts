import { describe, expect, it } from 'vitest';
import { KeySet } from '../../../../lib/store/garbage/key-set.ts';
import { KEY_BYTES } from '../../../../lib/trees/format/keys.ts';
import { keyOfBytes } from '../../trees/memory.ts';

describe('a set of keys', () => {
  it('has the flags of each of many keys', () => {
    const set = new KeySet();
    const keys = Array.from({ length: 20_000 }, (_, n) => keyOfBytes(String(n)));
    for (const [n, key] of keys.entries()) expect(set.add(key, 1 + (n % 3))).toBe(0);
    expect(set.size).toBe(20_000);
    for (const [n, key] of keys.entries()) {
      expect(set.flags(key)).toBe(1 + (n % 3));
      expect(set.flags(keyOfBytes(`other ${n}`))).toBe(0);
    }
    expect(set.count(1)).toBe(keys.filter((_, n) => n % 3 !== 1).length);
  });

  it('takes keys as text and as bytes', () => {
    const set = new KeySet();
    const key = keyOfBytes('a');
    const bytes = Buffer.from(`before${key}`, 'latin1');
    expect(set.addAt(bytes, bytes.length - KEY_BYTES + 1, 1)).toBe(0);
    expect(set.add(key, 2)).toBe(1);
    expect(set.addAt(bytes, bytes.length - KEY_BYTES + 1, 1)).toBe(3);
    set.clear(2);
    expect([set.flags(key), set.size]).toEqual([1, 1]);
  });
});
