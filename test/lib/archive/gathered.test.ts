import { describe, expect, it } from 'vitest';
import { Gathered } from '../../../lib/archive/gathered.ts';

const bytes = (...values: number[]) => Uint8Array.from(values);

describe('gathered pieces', () => {
  it('are one piece if they come while another is written', async () => {
    const written: number[][] = [];
    const first = resolvers<boolean>();
    const gathered = new Gathered((all) => {
      written.push([...all]);
      return written.length === 1 ? first.promise : Promise.resolve(true);
    });
    for (const value of [1, 2, 3]) expect(await gathered.add(bytes(value))).toBe(false);
    first.resolve(false);
    await gathered.end();
    expect(written).toEqual([[1], [2, 3]]);
  });

  it('are not more than a megabyte: then the writer is waited for', async () => {
    let active = 0;
    const gathered = new Gathered(async () => {
      expect(++active).toBe(1);
      await new Promise(setImmediate);
      active--;
      return false;
    });
    for (let piece = 0; piece < 100; piece++) await gathered.add(new Uint8Array(64 * 1024));
    await gathered.end();
    expect(active).toBe(0);
  });

  it('tell the failure of the writer to the next piece, and at the end', async () => {
    const failing = () => new Gathered(() => Promise.reject(new Error('full')));
    const one = failing();
    await one.add(bytes(1));
    await expect(one.end()).rejects.toThrow('full');
    const other = failing();
    await other.add(bytes(1));
    await other.settled();
    await expect(other.add(bytes(2))).rejects.toThrow('full');
  });
});

function resolvers<T>() {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
