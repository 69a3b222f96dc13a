import { afterEach, describe, expect, it, vi } from 'vitest';
import { generateKey, hideKeys, matches, parseKey } from '../../../lib/access/key-format.ts';

/** The calls that take time, in order, with the sizes of what they compare. */
const calls = vi.hoisted((): string[] => []);
vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>();
  return {
    ...crypto,
    createHash: (algorithm: string) => {
      calls.push(algorithm);
      return crypto.createHash(algorithm);
    },
    timingSafeEqual: (one: Uint8Array, other: Uint8Array) => {
      calls.push(`compare ${one.length} ${other.length}`);
      return crypto.timingSafeEqual(one, other);
    },
  };
});
afterEach(() => void calls.splice(0));

describe('the comparison of a key', () => {
  it('has the same steps for a right secret, a wrong one, one with a common prefix, and an id that does not exist', () => {
    const { text, sha256 } = generateKey();
    const { secret } = parseKey(text)!;
    const almost = `${secret.slice(0, -1)}${secret.endsWith('A') ? 'B' : 'A'}`;
    const cases: [string, string | undefined, boolean][] = [
      [secret, sha256, true],
      ['x'.repeat(43), sha256, false],
      [almost, sha256, false],
      [secret, undefined, false],
      [secret, '0'.repeat(64), false],
    ];
    for (const [given, stored, equal] of cases) {
      calls.splice(0);
      expect(matches(given, stored)).toBe(equal);
      expect(calls).toEqual(['sha256', 'compare 32 32']);
    }
  });

  it('accepts no hash of another length, and not the hash that stands for a missing one', () => {
    expect(matches('', undefined)).toBe(false);
    expect(matches('x', '')).toBe(false);
    expect(matches('x', 'abcd')).toBe(false);
  });
});

describe('a key in a text', () => {
  it('is hidden but for its id, also if its end is missing; its mask stays', () => {
    const { text, id, mask } = generateKey();
    expect(hideKeys(`a "${text}", ${text.slice(0, 20)}.`)).toBe(`a "pdk_${id}_…", pdk_${id}_….`);
    expect(hideKeys(`${mask} and pdk_ and pdk_abc`)).toBe(`${mask} and pdk_ and pdk_abc`);
  });
});
