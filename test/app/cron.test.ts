import { schedule } from 'node-cron';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTick, startCron } from '../../app/cron.ts';
import { silentLog } from '../../lib/log.ts';

vi.mock('node-cron', async (original) => {
  const real = await original<typeof import('node-cron')>();
  return { ...real, schedule: vi.fn(real.schedule) };
});

describe('a tick', () => {
  /** Returns the seconds at which a task of `interval` runs if it is ticked every second. */
  async function runsOf(interval: number, seconds: number): Promise<number[]> {
    const runs: number[] = [];
    let second = 0;
    const now = () => second * 1000;
    const tick = createTick({ name: 'a', interval, run: async () => void runs.push(second), log: silentLog, now });
    for (second = 1; second <= seconds; second++) await tick();
    return runs;
  }

  it.each([
    [7000, 30, [7, 14, 21, 28]],
    [90_000, 300, [90, 180, 270]],
    [250, 3, [1, 2, 3]],
    [1500, 6, [2, 4, 6]],
    [86_400_000, 100, []],
  ])('of a task with an interval of %d ms, within %d seconds, runs it at %j', async (interval, seconds, expected) => {
    expect(await runsOf(interval, seconds)).toEqual(expected);
  });

  it('runs the task once after a long pause, not once for each missed interval', async () => {
    let time = 0;
    let runs = 0;
    const tick = createTick({ name: 'a', interval: 10, run: async () => void runs++, log: silentLog, now: () => time });
    time = 1_000_000;
    await tick();
    await tick();
    expect(runs).toBe(1);
  });

  it('continues after a failed run, and logs it', async () => {
    let time = 0;
    const errors: unknown[] = [];
    const log = { ...silentLog, error: (message: string, fields?: object) => errors.push([message, fields]) };
    const run = async () => {
      throw new Error('broken');
    };
    const tick = createTick({ name: 'cleanup', interval: 1, run, log, now: () => time });
    for (time = 1; time <= 2; time++) await tick();
    expect(errors).toHaveLength(2);
    expect(errors[0]).toMatchObject(['scheduled task failed', { name: 'cleanup', err: { message: 'broken' } }]);
  });
});

describe('startCron', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('runs the task at its interval, and no more after a stop', async () => {
    let runs = 0;
    const cron = startCron({ name: 'a', interval: 7000, run: async () => void runs++, log: silentLog });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(runs).toBe(8);
    await cron.stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(runs).toBe(8);
  });

  it('never runs the task twice concurrently, and stop waits for the run in progress', async () => {
    let started = 0;
    let finish = () => {};
    const run = () => {
      started++;
      return new Promise<void>((resolve) => {
        finish = resolve;
      });
    };
    const cron = startCron({ name: 'a', interval: 1000, run, log: silentLog });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(started).toBe(1);
    let stopped = false;
    const stopping = cron.stop().then(() => {
      stopped = true;
    });
    await vi.advanceTimersByTimeAsync(1000);
    expect(stopped).toBe(false);
    finish();
    await stopping;
  });

  it('survives a stalled schedule that cannot be removed', async () => {
    const errors: unknown[] = [];
    const log = { ...silentLog, error: (message: string) => void errors.push(message) };
    let runs = 0;
    const cron = startCron({ name: 'a', interval: 1000, run: async () => void runs++, log });
    const [stalled] = vi
      .mocked(schedule)
      .mock.results.map(({ value }) => value)
      .slice(-1);
    const destroy = vi.spyOn(stalled, 'destroy').mockRejectedValue(new Error('broken'));
    vi.setSystemTime(Date.now() - 365 * 86_400_000);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(errors).toEqual(['stalled schedule could not be replaced']);
    expect(runs).toBeGreaterThan(30);
    destroy.mockRestore();
    await stalled.destroy();
    await cron.stop();
  });

  it('continues after the clock is set back by a year', async () => {
    let runs = 0;
    const cron = startCron({ name: 'a', interval: 1000, run: async () => void runs++, log: silentLog });
    await vi.advanceTimersByTimeAsync(5000);
    vi.setSystemTime(Date.now() - 365 * 86_400_000);
    const before = runs;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(runs - before).toBeGreaterThan(30);
    await cron.stop();
  });
});
