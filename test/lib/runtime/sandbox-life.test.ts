import { expect, it } from 'vitest';
import { SandboxLife } from '../../../lib/runtime/sandbox-life.ts';

const isReported = (life: SandboxLife) => Promise.race([life.died, Promise.resolve('nothing')]);

it('reports the end of a sandbox with how it ended', async () => {
  const life = new SandboxLife();
  expect(life.exited('killed')).toBe('killed');
  expect(await life.died).toBe('killed');
});

it('reports the first reason why it broke', async () => {
  const life = new SandboxLife();
  life.markBroken('the agent ended');
  life.markBroken('a later failure');
  expect(life.brokenReason).toBe('the agent ended');
  expect(life.exited('killed')).toBe('the agent ended');
  expect(await life.died).toBe('the agent ended');
});

it('reports nothing after stop, which runs once', async () => {
  const life = new SandboxLife();
  let ends = 0;
  const end = async () => void ends++;
  await Promise.all([life.stop(end), life.stop(end)]);
  expect(life.exited('killed')).toBe('killed');
  expect([ends, await isReported(life)]).toEqual([1, 'nothing']);
});
