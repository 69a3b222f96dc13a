import { describe, expect, it } from 'vitest';
import { listCheckpoints } from '../../handlers/checkpoints.ts';
import { call, json, message } from './call.ts';

describe('ListCheckpoints', () => {
  it('makes the same call for JSON with a path and for a decoded message', async () => {
    const seen: unknown[] = [];
    const fake = (...args: unknown[]) => {
      seen.push(args);
      return [{ sandbox_id: 'sb_1', name: 'a', created_at: 1, files: 2, bytes: 3 }];
    };
    const given = { sandboxes: { listCheckpoints: fake as never } };
    const rest = { ...json({}), pathParameters: { sandbox_id: 'sb_1' } };
    expect(await call(listCheckpoints, rest, given)).toEqual({
      checkpoints: [{ sandbox_id: 'sb_1', name: 'a', created_at: 1, files: 2, bytes: 3 }],
    });
    expect(await call(listCheckpoints, message({ sandbox_id: 'sb_1' }), given)).toEqual({
      checkpoints: [{ sandbox_id: 'sb_1', name: 'a', created_at: 1, files: 2, bytes: 3 }],
    });
    expect(seen).toEqual([['sb_1'], ['sb_1']]);
  });
});
