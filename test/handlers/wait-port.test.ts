import { describe, expect, it } from 'vitest';
import { waitPort } from '../../handlers/ports.ts';
import { call, json, message } from './call.ts';

const BODY = { port: 8000, wait: 5 };

describe('WaitPort', () => {
  it('makes the same call for JSON with a path and for a decoded message', async () => {
    const seen: unknown[] = [];
    const fake = (...args: unknown[]) => {
      seen.push(args);
      return {};
    };
    const { signal } = new AbortController();
    const given = { processes: { waitPort: fake as never }, signal };
    const pathParameters = { sandbox_id: 'sb_1' };
    await call(waitPort, { ...json(BODY), pathParameters }, given);
    await call(waitPort, message({ ...BODY, ...pathParameters }), given);
    const expected = [{ sandbox_id: 'sb_1', port: 8000, wait: 5, listening: false }, signal];
    expect(seen).toEqual([expected, expected]);
  });
});
