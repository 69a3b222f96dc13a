import { describe, expect, it } from 'vitest';
import { resizeTerminal } from '../../handlers/processes.ts';
import { call, json, message } from './call.ts';

const BODY = { columns: 80, rows: 24 };

describe('ResizeTerminal', () => {
  it('makes the same call for JSON with a path and for a decoded message', async () => {
    const seen: unknown[] = [];
    const fake = (...args: unknown[]) => {
      seen.push(args);
      return {};
    };
    const { signal } = new AbortController();
    const given = { processes: { resize: fake as never }, signal };
    const pathParameters = { sandbox_id: 'sb_1', process_id: 'a' };
    await call(resizeTerminal, { ...json(BODY), pathParameters }, given);
    await call(resizeTerminal, message({ ...BODY, ...pathParameters }), given);
    const expected = ['sb_1', 'a', { columns: 80, rows: 24 }];
    expect(seen).toEqual([expected, expected]);
  });
});
