import { describe, expect, it } from 'vitest';
import { FairQueue } from '../../../lib/fuse/connection/fair-queue.ts';

/** Serves `count` items, each of which takes as many ms as `cost` says. */
function serve(queue: FairQueue<string>, count: number, cost: (item: string) => number = () => 1): string {
  let served = '';
  for (let i = 0; i < count; i++) {
    const item = queue.next();
    if (item === undefined) break;
    served += item;
    queue.spent(cost(item));
  }
  return served;
}

function filled(flows: Record<string, number>): FairQueue<string> {
  const queue = new FairQueue<string>();
  for (const [flow, count] of Object.entries(flows)) for (let i = 0; i < count; i++) queue.add(flow, flow);
  return queue;
}

describe('a fair queue', () => {
  it('keeps the order of one flow', () => {
    const queue = new FairQueue<string>();
    for (const item of 'abcdef') queue.add('one', item);
    expect(serve(queue, 10)).toBe('abcdef');
    expect(queue.size).toBe(0);
  });

  it('serves a flow that arrives last after one item of a flow with many', () => {
    const queue = filled({ a: 1000 });
    serve(queue, 10);
    queue.add('b', 'b');
    expect(serve(queue, 2)).toContain('b');
  });

  it('gives each flow the same time, not the same number of items', () => {
    const queue = filled({ a: 100, b: 1000 });
    const served = serve(queue, 330, (item) => (item === 'a' ? 10 : 1));
    const [a, b] = ['a', 'b'].map((flow) => served.split(flow).length - 1);
    expect(a! * 10 - b!).toBeLessThanOrEqual(10);
    expect(b! - a! * 10).toBeLessThanOrEqual(10);
  });

  it('lets a flow without items save up no time', () => {
    const queue = filled({ a: 300, b: 1 });
    serve(queue, 200);
    for (let i = 0; i < 100; i++) queue.add('b', 'b');
    const served = serve(queue, 20);
    expect(served.split('a').length - 1).toBeGreaterThanOrEqual(9);
  });

  it('remembers the time of a flow whose items arrive one at a time', () => {
    const queue = filled({ a: 1000 });
    const served = Array.from({ length: 100 }, () => {
      queue.add('b', 'b');
      return serve(queue, 2, (item) => (item === 'b' ? 9 : 1));
    }).join('');
    const before = served.slice(0, 100);
    expect(before.split('b').length - 1).toBeLessThanOrEqual(12);
  });
});
