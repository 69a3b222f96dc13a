import { expect, it, onTestFinished } from 'vitest';
import { LineHelper } from '../../../../lib/runtime/terminal-limit/line-helper.ts';

it('keeps the server alive while an answer is awaited, which may be all that it does at its start, and not longer', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const helper = new LineHelper('cat', []);
  onTestFinished(() => helper.close());
  const before = timers();
  const answer = helper.ask('1');
  expect(timers()).toBe(before + 1);
  expect(await answer).toBe('1');
  expect(timers()).toBe(before);
});
