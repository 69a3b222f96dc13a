import { expect, it } from 'vitest';
import { SandboxLife } from '../../../lib/runtime/sandbox-life.ts';

const isReported = (life: SandboxLife) => Promise.race([life.exited, Promise.resolve('nothing')]);

it('the life of a sandbox reports its end with the way in which it ended', async () => {
  const life = new SandboxLife();
  expect(life.markExited('killed')).toBe('killed');
  expect(await life.exited).toBe('killed');
});

it('the life of a sandbox reports the first reason of its failure', async () => {
  const life = new SandboxLife();
  life.markFailed('the agent ended');
  life.markFailed('a later failure');
  expect(life.failureReason).toBe('the agent ended');
  expect(life.markExited('killed')).toBe('the agent ended');
  expect(await life.exited).toBe('the agent ended');
});

it('the life of a sandbox reports nothing after stop, and stop runs once', async () => {
  const life = new SandboxLife();
  let ends = 0;
  const end = async () => void ends++;
  await Promise.all([life.stop(end), life.stop(end)]);
  expect(life.markExited('killed')).toBe('killed');
  expect([ends, await isReported(life)]).toEqual([1, 'nothing']);
});
