import { describe, expect, it } from 'vitest';
import { deleteCheckpoint } from '../../handlers/checkpoints.ts';
import { call, json, message } from './call.ts';

describe('DeleteCheckpoint', () => {
  it('makes the same call for JSON with a path and for a decoded message', async () => {
    const seen: unknown[] = [];
    const fake = (...args: unknown[]) => {
      seen.push(args);
      return Promise.resolve();
    };
    const given = { sandboxes: { deleteCheckpoint: fake as never } };
    const rest = { ...json({}), pathParameters: { sandbox_id: 'sb_1', name: 'a' } };
    expect(await call(deleteCheckpoint, rest, given)).toEqual({});
    expect(await call(deleteCheckpoint, message({ sandbox_id: 'sb_1', name: 'a' }), given)).toEqual({});
    expect(seen).toEqual([
      ['sb_1', 'a'],
      ['sb_1', 'a'],
    ]);
  });
});
