import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { FirstRunners } from '../../../../lib/runtime/bwrap/first-runners.ts';
import { run } from '../run.ts';
import { runtimeCgroups, until, useBwrap } from './fixture.ts';

const bwrap = useBwrap();

/** The groups of the runners of all sandboxes. */
const runners = () =>
  runtimeCgroups(bwrap.stateDir)
    .flatMap(directories)
    .flatMap((dir) => directories(join(dir, 'commands'))).length;

function directories(dir: string): string[] {
  if (!existsSync(dir)) return [];
  const entries = readdirSync(dir, { withFileTypes: true });
  return entries.filter((each) => each.isDirectory()).map(({ name }) => join(dir, name));
}

it('a sandbox is up before its first runner, which is started when nothing is launched', async () => {
  const sandbox = await bwrap.runtime.launch(bwrap.spec());
  onTestFinished(() => sandbox.stop());
  expect(runners()).toBe(0);
  await until('a runner is started', () => runners() === 1);
  expect((await run(sandbox, 'echo $LANG-$LC_ALL')).stdout).toBe('C.UTF-8-\n');
  expect(runners()).toBe(1);
});

it('a command that comes before it has the only runner, for as long as it takes', async () => {
  const sandbox = await bwrap.runtime.launch(bwrap.spec());
  onTestFinished(() => sandbox.stop());
  expect((await run(sandbox, 'sleep 0.2; echo here')).stdout).toBe('here\n');
  expect(runners()).toBe(1);
});

it('a ready sandbox has its runner', async () => {
  const ready = await bwrap.runtime.prepare!(bwrap.spec());
  onTestFinished(() => ready.discard());
  expect(runners()).toBe(1);
});

/** Starts that end when they are told to. */
function starts() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const first = new FirstRunners();
  const begun: ((error?: Error) => void)[] = [];
  const launched = (count: number) => {
    for (let each = 0; each < count; each++) {
      first.launching();
      first.launched({
        init: 1,
        startFirst: () => new Promise((resolve, reject) => begun.push((error) => (error ? reject(error) : resolve()))),
      });
    }
  };
  return { first, begun, launched };
}

it('two are started at a time, whether or not one fails', async () => {
  const { begun, launched } = starts();
  launched(4);
  expect(begun).toHaveLength(0);
  await vi.advanceTimersByTimeAsync(20);
  expect(begun).toHaveLength(2);
  begun[0]!(new Error('no room'));
  await vi.advanceTimersByTimeAsync(0);
  expect(begun).toHaveLength(3);
  begun[1]!();
  await vi.advanceTimersByTimeAsync(0);
  expect(begun).toHaveLength(4);
});

it('none is started while a sandbox is launched, or after the end', async () => {
  const { first, begun, launched } = starts();
  launched(3);
  first.launching();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(begun).toHaveLength(0);
  first.failed();
  await vi.advanceTimersByTimeAsync(20);
  expect(begun).toHaveLength(2);
  first.launching();
  begun[0]!();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(begun).toHaveLength(2);
  first.close();
  first.failed();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(begun).toHaveLength(2);
});

it('what has ended is not kept while launches never pause', async () => {
  const { first } = starts();
  const looks = vi.fn(() => undefined);
  const ended = {
    startFirst: async () => {},
    get init() {
      return looks();
    },
  };
  first.launching();
  for (let each = 0; each < 1000; each++) {
    first.launching();
    first.launched(ended);
  }
  // Each is looked at once: then it is gone.
  expect(looks.mock.calls.length).toBeGreaterThan(900);
  expect(looks.mock.calls.length).toBeLessThanOrEqual(1000);
});
