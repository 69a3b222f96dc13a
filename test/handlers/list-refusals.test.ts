import { describe, expect, it } from 'vitest';
import { listRefusals } from '../../handlers/permissions.ts';
import { call, json, message } from './call.ts';

describe('ListRefusals', () => {
  it('makes the same call for JSON with a path and for a decoded message', async () => {
    const seen: unknown[] = [];
    const refusals = [{ path: 'a', code: 'hidden', reason: 'r', count: 1 }];
    const fake = (...args: unknown[]) => {
      seen.push(args);
      return refusals;
    };
    const given = { sandboxes: { listRefusals: fake as never } };
    const rest = { ...json({}), pathParameters: { sandbox_id: 'sb_1' } };
    expect(await call(listRefusals, rest, given)).toEqual({ refusals });
    expect(await call(listRefusals, message({ sandbox_id: 'sb_1' }), given)).toEqual({ refusals });
    expect(seen).toEqual([['sb_1'], ['sb_1']]);
  });
});
