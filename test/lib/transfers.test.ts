import { describe, expect, it } from 'vitest';
import { Transfers } from '../../lib/transfers.ts';

const NEVER_MS = 1_000_000;

/** Begins a transfer; its name is in `begun` once it was admitted. */
function beginner(transfers: Transfers) {
  const begun: string[] = [];
  const begin = async (name: string, holder: string, descriptors = 1) => {
    const end = await transfers.begin(holder, descriptors);
    begun.push(name);
    return end;
  };
  return { begun, begin };
}

describe('Transfers', () => {
  it('admits those of a holder in order of arrival when earlier ones end', async () => {
    const { begun, begin } = beginner(new Transfers(8, NEVER_MS));
    const first = await begin('first', 'a', 2);
    const second = await begin('second', 'a', 1);
    const third = begin('third', 'a', 2);
    const fourth = begin('fourth', 'a', 1);
    await begin('other', 'b', 1);
    expect(begun).toEqual(['first', 'second', 'other']);
    second();
    await Promise.resolve();
    expect(begun).toEqual(['first', 'second', 'other']);
    first();
    (await third)();
    await fourth;
    expect(begun).toEqual(['first', 'second', 'other', 'third', 'fourth']);
  });

  it('does not let one holder take the share of another', async () => {
    const { begun, begin } = beginner(new Transfers(100, NEVER_MS));
    for (let count = 0; count < 90; count++) begin(`a${count}`, 'a').catch(() => undefined);
    await begin('b', 'b');
    expect(begun.length).toBeLessThan(60);
    expect(begun).toContain('b');
  });

  it('refuses one that waits too long, and admits a smaller one behind it', async () => {
    const transfers = new Transfers(10, 20);
    const ends = [await transfers.begin('a', 3)];
    const large = transfers.begin('a', 4);
    const small = transfers.begin('a', 1);
    const refused = { code: 'RESOURCE_EXHAUSTED', message: expect.stringMatching(/^too many file transfers/) };
    await expect(large).rejects.toMatchObject(refused);
    await small;
    ends[0]!();
  });

  it('frees the descriptors of a transfer once, however often it is ended', async () => {
    const transfers = new Transfers(4, 20);
    const end = await transfers.begin('a', 2);
    end();
    end();
    await transfers.begin('a', 2);
    await expect(transfers.begin('a', 2)).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
  });

  it('admits one at a time if the limit is lower than what a transfer needs', async () => {
    const transfers = new Transfers(2, NEVER_MS);
    const end = await transfers.begin('a', 12);
    const next = transfers.begin('a', 12);
    end();
    (await next)();
  });
});
