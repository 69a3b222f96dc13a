import { describe, expect, it } from 'vitest';
import { Ending } from '../../../../../lib/workspaces/tree/disk/ending.ts';

describe('the end of work in another thread', () => {
  it('is told at once, without an event loop, to all that wait and to those that come later', () => {
    const told: string[] = [];
    let end = (): void => {};
    const ending = new Ending((ended) => {
      end = ended;
    });
    const next = ending.then(() => told.push('first')).then(() => told.push('second'));
    expect(told).toEqual([]);
    end();
    next.then(() => told.push('late'));
    expect(told).toEqual(['first', 'second', 'late']);
  });

  it('is that of the work which a callback begins', () => {
    const told: unknown[] = [];
    let fail = (_error: unknown): void => {};
    const begun = new Ending((_, failed) => {
      fail = failed;
    });
    new Ending((ended) => ended()).then(() => begun).catch((error) => told.push(error));
    expect(told).toEqual([]);
    fail('why');
    expect(told).toEqual(['why']);
  });

  it('is the first one, and a failure passes those by who do not ask for it', () => {
    const told: unknown[] = [];
    new Ending((ended, failed) => {
      failed('first');
      ended();
      throw new Error('later');
    })
      .then(() => told.push('done'))
      .catch((error) => told.push(error));
    expect(told).toEqual(['first']);
  });
});
