import { describe, expect, it } from 'vitest';
import { deleteProcess } from '../../handlers/processes.ts';
import { call, json, message } from './call.ts';

const BODY = {};

describe('DeleteProcess', () => {
  it('makes the same call for JSON with a path and for a decoded message', async () => {
    const seen: unknown[] = [];
    const fake = (...args: unknown[]) => {
      seen.push(args);
      return {};
    };
    const { signal } = new AbortController();
    const given = { processes: { delete: fake as never }, signal };
    const pathParameters = { sandbox_id: 'sb_1', process_id: 'a' };
    await call(deleteProcess, { ...json(BODY), pathParameters }, given);
    await call(deleteProcess, message({ ...BODY, ...pathParameters }), given);
    const expected = ['sb_1', 'a'];
    expect(seen).toEqual([expected, expected]);
  });
});
