import { expect, it } from 'vitest';
import { SandboxLife } from '../../../lib/runtime/sandbox-life.ts';

const isReported = (life: SandboxLife) => Promise.race([life.exited, Promise.resolve('nothing')]);

it('reports the end of a sandbox with how it ended', async () => {
  const life = new SandboxLife();
  expect(life.markExited('killed')).toBe('killed');
  expect(await life.exited).toBe('killed');
});

it('reports the first reason why it broke', async () => {
  const life = new SandboxLife();
  life.markFailed('the agent ended');
  life.markFailed('a later failure');
  expect(life.failureReason).toBe('the agent ended');
  expect(life.markExited('killed')).toBe('the agent ended');
  expect(await life.exited).toBe('the agent ended');
});

it('reports nothing after stop, which runs once', async () => {
  const life = new SandboxLife();
  let ends = 0;
  const end = async () => void ends++;
  await Promise.all([life.stop(end), life.stop(end)]);
  expect(life.markExited('killed')).toBe('killed');
  expect([ends, await isReported(life)]).toEqual([1, 'nothing']);
});
