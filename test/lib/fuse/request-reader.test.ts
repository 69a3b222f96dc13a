import { describe, expect, it } from 'vitest';
import { type Descriptor, RequestReader } from '../../../lib/fuse/connection/request-reader.ts';

const INTO = Buffer.alloc(8);

/** Descriptors that a script fills, and a clock that advances with every poll. */
function reader({ arrives, work = { left: 0 } }: { arrives: (look: number) => boolean; work?: { left: number } }) {
  const calls: string[] = [];
  let looks = 0;
  let now = 0;
  const nonBlocking: Descriptor = {
    fd: 4,
    read: () => {
      calls.push('look');
      now += 0.01;
      return arrives(looks++) ? 80 : undefined;
    },
  };
  const blocking: Descriptor = {
    fd: 3,
    read: () => {
      calls.push('sleep');
      return 40;
    },
  };
  const workAhead = () => {
    if (work.left === 0) return false;
    work.left--;
    calls.push('work');
    return true;
  };
  return { calls, reader: new RequestReader(blocking, nonBlocking, workAhead, true, () => now), blocking };
}

describe('the request reader', () => {
  it('finds a request that arrives at once without sleeping, and answers it on the same descriptor', () => {
    const { reader: requests, calls } = reader({ arrives: (look) => look === 2 });
    expect(requests.next(INTO)).toBe(80);
    expect(requests.fd).toBe(4);
    expect(calls).toEqual(['look', 'look', 'look']);
  });

  it('works ahead until a request arrives, and looks for one after each piece of work', () => {
    const { reader: requests, calls } = reader({ arrives: (look) => look === 3, work: { left: 20 } });
    expect(requests.next(INTO)).toBe(80);
    expect(calls).toEqual(['look', 'work', 'look', 'work', 'look', 'work', 'look']);
  });

  it('works ahead however rarely it polls, and sleeps when nothing is left to do', () => {
    const work = { left: 0 };
    const { reader: requests, calls } = reader({ arrives: () => false, work });
    for (let i = 0; i < 100; i++) requests.next(INTO);
    calls.length = 0;
    work.left = 20;
    requests.next(INTO);
    expect(calls.filter((call) => call === 'work')).toHaveLength(20);
    expect(calls.at(-1)).toBe('sleep');
  });

  it('sleeps if no request arrives for a moment', () => {
    const { reader: requests, calls } = reader({ arrives: () => false });
    expect(requests.next(INTO)).toBe(40);
    expect(requests.fd).toBe(3);
    expect(calls.at(-1)).toBe('sleep');
    expect(calls.length).toBeLessThan(10);
  });

  it('polls rarely if polling finds nothing', () => {
    const { reader: requests, calls } = reader({ arrives: () => false });
    for (let i = 0; i < 1000; i++) requests.next(INTO);
    const looks = calls.filter((call) => call === 'look').length;
    // One before each sleep, and those of polling.
    expect(looks - 1000).toBeLessThan(200);
    expect(calls.filter((call) => call === 'sleep')).toHaveLength(1000);
  });

  it('polls every time again after requests arrive at once', () => {
    let quick = false;
    const { reader: requests, calls } = reader({ arrives: () => quick });
    for (let i = 0; i < 100; i++) requests.next(INTO);
    quick = true;
    for (let i = 0; i < 100; i++) requests.next(INTO);
    calls.length = 0;
    for (let i = 0; i < 100; i++) requests.next(INTO);
    expect(calls).toEqual(Array.from({ length: 100 }, () => 'look'));
  });

  it('sleeps before each request if there is no second descriptor', () => {
    const { blocking, calls } = reader({ arrives: () => true });
    const requests = new RequestReader(blocking, undefined);
    expect(requests.next(INTO)).toBe(40);
    expect(calls).toEqual(['sleep']);
  });
});
