import { describe, expect, it } from 'vitest';
import { watchProcess } from '../../handlers/processes.ts';
import { call, json, message } from './call.ts';

const BODY = { offset: 5 };

describe('WatchProcess', () => {
  it('makes the same call for JSON with a path and for a decoded message', async () => {
    const seen: unknown[] = [];
    const fake = (...args: unknown[]) => {
      seen.push(args);
      return {};
    };
    const { signal } = new AbortController();
    const given = { processes: { watch: fake as never }, signal };
    const pathParameters = { sandbox_id: 'sb_1', process_id: 'a' };
    await call(watchProcess, { ...json(BODY), pathParameters }, given);
    await call(watchProcess, message({ ...BODY, ...pathParameters }), given);
    const expected = [{ sandbox_id: 'sb_1', process_id: 'a', offset: 5 }, signal];
    expect(seen).toEqual([expected, expected]);
  });
});
