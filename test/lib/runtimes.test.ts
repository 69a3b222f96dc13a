import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../lib/errors.ts';
import type { Runtime } from '../../lib/runtime/runtime.ts';
import { Runtimes } from '../../lib/runtimes.ts';

function fake(calls: string[], probe: () => Promise<void> = async () => {}): Runtime {
  return {
    probe: async () => {
      calls.push('probe');
      await probe();
    },
    reclaim: async () => void calls.push('reclaim'),
    launch: async () => {
      throw new Error('not here');
    },
    close: async () => void calls.push('close'),
  };
}

const none = () => {
  throw new ServiceError('FAILED_PRECONDITION', 'not on this machine');
};

describe('runtimes', () => {
  it('are probed and reclaimed once, at the first use, and closed at the end', async () => {
    const calls: string[] = [];
    const runtimes = new Runtimes({ RUNTIME_BWRAP: () => fake(calls), RUNTIME_DOCKER: none, RUNTIME_MOCK: none });
    expect(calls).toEqual([]);
    const [first, second] = await Promise.all([runtimes.get('RUNTIME_BWRAP'), runtimes.get('RUNTIME_BWRAP')]);
    expect(first).toBe(second);
    await runtimes.close();
    expect(calls).toEqual(['probe', 'reclaim', 'close']);
  });

  it('that do not work are refused with the reason, and tried again later', async () => {
    const calls: string[] = [];
    let works = false;
    const probe = async () => {
      if (!works) throw new ServiceError('UNAVAILABLE', 'no daemon');
    };
    const runtimes = new Runtimes({
      RUNTIME_BWRAP: none,
      RUNTIME_DOCKER: () => fake(calls, probe),
      RUNTIME_MOCK: none,
    });
    await expect(runtimes.get('RUNTIME_DOCKER')).rejects.toThrow('no daemon');
    await expect(runtimes.get('RUNTIME_BWRAP')).rejects.toThrow('not on this machine');
    works = true;
    await runtimes.get('RUNTIME_DOCKER');
    await runtimes.close();
    expect(calls).toEqual(['probe', 'probe', 'reclaim', 'close']);
  });
});
