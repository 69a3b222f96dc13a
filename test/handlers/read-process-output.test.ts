import { describe, expect, it } from 'vitest';
import { readProcessOutput } from '../../handlers/processes.ts';
import { call, json, message } from './call.ts';

const BODY = { offset: 5, wait: 100 };

describe('ReadProcessOutput', () => {
  it('makes the same call for JSON with a path and for a decoded message', async () => {
    const seen: unknown[] = [];
    const fake = (...args: unknown[]) => {
      seen.push(args);
      return {};
    };
    const { signal } = new AbortController();
    const given = { processes: { read: fake as never }, signal };
    const pathParameters = { sandbox_id: 'sb_1', process_id: 'a' };
    await call(readProcessOutput, { ...json(BODY), pathParameters }, given);
    await call(readProcessOutput, message({ ...BODY, ...pathParameters }), given);
    const expected = [{ sandbox_id: 'sb_1', process_id: 'a', offset: 5, max_bytes: 0, wait: 100 }, signal];
    expect(seen).toEqual([expected, expected]);
  });
});
