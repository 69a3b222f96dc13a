import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CallsInProgress } from '../../../lib/access/calls-in-progress.ts';
import { ServiceError } from '../../../lib/errors.ts';

const expired = () => new ServiceError('UNAUTHENTICATED', 'expired');
const revoked = new ServiceError('UNAUTHENTICATED', 'revoked');

let calls: CallsInProgress;
const ended: string[] = [];
const end = (name: string) => (reason: ServiceError) => void ended.push(`${name} ${reason.message}`);

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  ended.length = 0;
  calls = new CallsInProgress({ now: Date.now, expired });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('calls in progress', () => {
  it('end when their key is revoked, and no others do', () => {
    calls.add('a', 0, end('first'));
    const release = calls.add('a', 0, end('released'));
    calls.add('a', 0, end('second'));
    calls.add('b', 0, end('other'));
    release();
    calls.end('a', revoked);
    calls.end('a', revoked);
    expect(ended).toEqual(['first revoked', 'second revoked']);
  });

  it('end when their key expires', () => {
    calls.add('a', 1010, end('first'));
    vi.advanceTimersByTime(9_999);
    calls.add('a', 1010, end('late'));
    expect(ended).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(ended).toEqual(['first expired', 'late expired']);
  });

  it('end at an expiry that is further away than the longest timer', () => {
    const days = 60 * 86_400;
    calls.add('a', 1000 + days, end('long'));
    vi.advanceTimersByTime((days - 1) * 1000);
    expect(ended).toEqual([]);
    vi.advanceTimersByTime(1000);
    expect(ended).toEqual(['long expired']);
  });

  it('leave no timer when the last one is released', () => {
    const releases = [calls.add('a', 2000, end('x')), calls.add('a', 2000, end('y'))];
    expect(vi.getTimerCount()).toBe(1);
    for (const release of releases) release();
    expect(vi.getTimerCount()).toBe(0);
  });
});
