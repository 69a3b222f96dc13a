import type { Socket } from 'node:net';
import { expect, it, vi } from 'vitest';
import { Dialer } from '../../../../lib/network/ports/dialer.ts';

/** Connectors in the order of their creation; `answer` is what `connect` does. */
function fakes(answer: () => Promise<Socket>) {
  const closed: boolean[] = [];
  const create = () => {
    const index = closed.push(false) - 1;
    return {
      connect: answer,
      close: async () => {
        closed[index] = true;
      },
    };
  };
  return { create, closed };
}

it('creates a connector when it is needed, ends it when it is idle, and creates another one', async () => {
  let finish = (_: Socket) => {};
  const { create, closed } = fakes(() => new Promise((resolve) => (finish = resolve)));
  const dialer = new Dialer(create, 1);
  expect(closed).toEqual([]);
  const [one, other] = [dialer.connect(1, 80), dialer.connect(1, 81)];
  expect(closed).toEqual([false]);
  finish({} as Socket);
  await other;
  expect(closed).toEqual([false]);
  void one;
  const idle = fakes(async () => ({}) as Socket);
  const short = new Dialer(idle.create, 1);
  await short.connect(1, 80);
  await vi.waitFor(() => expect(idle.closed).toEqual([true]), { timeout: 30_000 });
  await short.connect(1, 80);
  expect(idle.closed).toEqual([true, false]);
  await short.close();
  expect(idle.closed).toEqual([true, true]);
  await expect(short.connect(1, 80)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

it('says what nothing listens on, and what accepts no connection', async () => {
  for (const [code, message] of [
    ['ECONNREFUSED', 'nothing listens on port 80 in this sandbox'],
    ['ETIMEDOUT', 'the program on port 80 accepts no connection'],
  ] as const) {
    const { create } = fakes(() => Promise.reject(Object.assign(new Error(code), { code })));
    const dialer = new Dialer(create);
    const error = await dialer.connect(1, 80).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ code: 'UNAVAILABLE', message });
    expect(error).not.toHaveProperty('cause');
    await dialer.close();
  }
});
