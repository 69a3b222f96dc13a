import { describe, expect, it } from 'vitest';
import { getProcess } from '../../handlers/processes.ts';
import { call, json, message } from './call.ts';

const BODY = {};

describe('GetProcess', () => {
  it('makes the same call for JSON with a path and for a decoded message', async () => {
    const seen: unknown[] = [];
    const fake = (...args: unknown[]) => {
      seen.push(args);
      return {};
    };
    const { signal } = new AbortController();
    const given = { processes: { get: fake as never }, signal };
    const pathParameters = { sandbox_id: 'sb_1', process_id: 'a' };
    await call(getProcess, { ...json(BODY), pathParameters }, given);
    await call(getProcess, message({ ...BODY, ...pathParameters }), given);
    const expected = ['sb_1', 'a'];
    expect(seen).toEqual([expected, expected]);
  });
});
