import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { ServiceError } from '../../../../lib/errors.ts';
import type { RunnerHost } from '../../../../lib/runtime/executor/runner.ts';
import { type PoolHost, RunnerPool } from '../../../../lib/runtime/executor/runner-pool.ts';

const ENDED = new ServiceError('UNAVAILABLE', 'the sandbox has ended');

interface Parts {
  take?: boolean;
  place?: () => Promise<void>;
  basePids?: () => number[];
}

/** A pool that starts no runner, and the function that ends its sandbox. */
function pool({ take = true, place = async () => {}, basePids = () => [] }: Parts) {
  let lose = (_error: ServiceError) => {};
  const lost = new Promise<never>((_, reject) => {
    lose = reject;
  });
  lost.catch(() => {});
  const commands = { take: () => take, give: () => {} };
  const groups = { basePids };
  const runners = { dir: '/nowhere', fifos: { place }, groups, descriptors: { commands } } as unknown as RunnerHost;
  const nothing = () => {};
  const host: PoolHost = { runners, start: nothing, lost, tampered: nothing, stuck: nothing };
  const made = new RunnerPool(host);
  onTestFinished(() => made.close(ENDED));
  return { made, end: () => lose(ENDED) };
}

/** What would end the server. */
function unhandled() {
  const seen = vi.fn();
  process.on('unhandledRejection', seen);
  onTestFinished(() => void process.off('unhandledRejection', seen));
  return seen;
}

it('the end of a sandbox that had no descriptors for a runner is no defect of the server', async () => {
  const seen = unhandled();
  const { made, end } = pool({ take: false });
  await expect(made.create()).rejects.toThrow('file descriptors');
  end();
  await delay(1);
  expect(seen).not.toHaveBeenCalled();
});

/** Pipes that are being made until the returned function is called. */
function pipesInTheMaking() {
  let fail = (_error: Error) => {};
  const placing = new Promise<void>((_, reject) => {
    fail = reject;
  });
  return { place: () => placing, fail: () => fail(new ServiceError('UNAVAILABLE', 'no space')) };
}

it('nor is its end while the pipes of a runner are made', async () => {
  const seen = unhandled();
  const { place, fail } = pipesInTheMaking();
  const { made, end } = pool({ place });
  const creating = made.create();
  end();
  await delay(1);
  expect(seen).not.toHaveBeenCalled();
  fail();
  await expect(creating).rejects.toThrow('no space');
});

it('nor are processes of the agent that cannot be listed, for want of a descriptor', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const seen = unhandled();
  const basePids = vi.fn(() => {
    throw Object.assign(new Error('EMFILE'), { code: 'EMFILE' });
  });
  const { place, fail } = pipesInTheMaking();
  const { made } = pool({ place, basePids });
  const creating = made.create();
  vi.advanceTimersByTime(1000);
  await delay(1);
  expect(basePids).toHaveBeenCalledOnce();
  expect(seen).not.toHaveBeenCalled();
  fail();
  await expect(creating).rejects.toThrow('no space');
});

it('a command takes the runner that is being started ahead, which none but it gets', async () => {
  const { place, fail } = pipesInTheMaking();
  const placed = vi.fn(place);
  const { made } = pool({ place: placed });
  const ahead = made.startAhead();
  const first = made.next();
  const second = made.next();
  await made.startAhead();
  expect(placed).toHaveBeenCalledTimes(2);
  fail();
  for (const each of [ahead, first, second]) await expect(each).rejects.toThrow('no space');
});
