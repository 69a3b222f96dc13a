import { describe, expect, it } from 'vitest';
import { signalProcess } from '../../handlers/processes.ts';
import { call, json, message } from './call.ts';

const BODY = { signal: 'SIGINT' };

describe('SignalProcess', () => {
  it('makes the same call for JSON with a path and for a decoded message', async () => {
    const seen: unknown[] = [];
    const fake = (...args: unknown[]) => {
      seen.push(args);
      return {};
    };
    const { signal } = new AbortController();
    const given = { processes: { signal: fake as never }, signal };
    const pathParameters = { sandbox_id: 'sb_1', process_id: 'a' };
    await call(signalProcess, { ...json(BODY), pathParameters }, given);
    await call(signalProcess, message({ ...BODY, ...pathParameters }), given);
    const expected = ['sb_1', 'a', 'SIGINT'];
    expect(seen).toEqual([expected, expected]);
  });
});
