import { expect, it } from 'vitest';
import { Places } from '../../../lib/limits/places.ts';

const { signal } = new AbortController();

it('those that wait have places in order, each holder in turn', async () => {
  const places = new Places(1);
  const order: string[] = [];
  const take = async (holder: string, call: string) => {
    await places.take(holder, signal);
    order.push(call);
    await Promise.resolve();
    places.give();
  };
  const all = [take('a', 'a1'), take('a', 'a2'), take('a', 'a3'), take('a', 'a4'), take('b', 'b1')];
  await Promise.all(all);
  expect(order).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
});

it('one that has ended while it waited takes no place', async () => {
  const places = new Places(1);
  const ended = new AbortController();
  await places.take('a', signal);
  const waiting = places.take('b', ended.signal);
  ended.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  await expect(places.take('b', ended.signal)).rejects.toThrow('gone');
  places.give();
  await places.take('c', signal);
});
