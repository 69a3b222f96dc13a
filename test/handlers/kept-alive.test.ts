import { expect, it } from 'vitest';
import { keptAlive } from '../../handlers/define.ts';

it('adds keepalives while there is no message, and keeps the messages and their order', async () => {
  let go = () => {};
  async function* messages() {
    yield 'a';
    await new Promise<void>((resolve) => {
      go = resolve;
    });
    yield 'b';
    yield 'c';
  }
  const seen: string[] = [];
  for await (const message of keptAlive(messages(), 1, () => '-')) {
    seen.push(message);
    if (seen.length === 4) go();
  }
  expect(seen.filter((each) => each !== '-')).toEqual(['a', 'b', 'c']);
  expect(seen.slice(0, 4)).toEqual(['a', '-', '-', '-']);
});

it('adds none while messages come in time, also when they are read slowly', async () => {
  async function* messages() {
    for (let count = 0; count < 5; count++) yield count;
  }
  const seen: number[] = [];
  for await (const message of keptAlive(messages(), 1, () => -1)) {
    seen.push(message);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(seen).toEqual([0, 1, 2, 3, 4]);
});

it('passes an error on', async () => {
  // biome-ignore lint/correctness/useYield: it fails before the first message
  async function* messages(): AsyncGenerator<string> {
    throw new Error('broken');
  }
  await expect(keptAlive(messages(), 1000, () => '-').next()).rejects.toThrow('broken');
});

it('closes the messages when its reader leaves, also while one is awaited', async () => {
  let closed = 0;
  const messages = (next: () => Promise<IteratorResult<string>>): AsyncIterable<string> => ({
    [Symbol.asyncIterator]: () => ({
      next,
      return: async () => {
        closed++;
        return { done: true, value: undefined };
      },
    }),
  });
  for await (const _ of keptAlive(
    messages(async () => ({ done: false, value: 'a' })),
    1000,
    () => '-',
  ))
    break;
  expect(closed).toBe(1);
  for await (const _ of keptAlive(
    messages(() => new Promise(() => {})),
    1,
    () => '-',
  ))
    break;
  expect(closed).toBe(2);
});
