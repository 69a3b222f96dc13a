import { describe, expect, it } from 'vitest';
import { listProcesses } from '../../handlers/processes.ts';
import { call, json, message } from './call.ts';

const BODY = { running: true, labels: { b: 'c' } };

describe('ListProcesses', () => {
  it('makes the same call for JSON with a path and for a decoded message', async () => {
    const seen: unknown[] = [];
    const fake = (...args: unknown[]) => {
      seen.push(args);
      return {};
    };
    const { signal } = new AbortController();
    const given = { processes: { list: fake as never }, signal };
    const pathParameters = { sandbox_id: 'sb_1' };
    await call(listProcesses, { ...json(BODY), pathParameters }, given);
    await call(listProcesses, message({ ...BODY, ...pathParameters }), given);
    const expected = [{ sandbox_id: 'sb_1', labels: { b: 'c' }, running: true, page_size: 100, page_token: '' }];
    expect(seen).toEqual([expected, expected]);
  });
});
