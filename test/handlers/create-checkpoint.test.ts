import { describe, expect, it } from 'vitest';
import { createCheckpoint } from '../../handlers/checkpoints.ts';
import { call, json, message } from './call.ts';

describe('CreateCheckpoint', () => {
  it('makes the same call for JSON with a path and for a decoded message', async () => {
    const seen: unknown[] = [];
    const fake = (...args: unknown[]) => {
      seen.push(args);
      return { sandbox_id: 'sb_1', name: 'a', created_at: 1, files: 2, bytes: 3 };
    };
    const given = { sandboxes: { createCheckpoint: fake as never } };
    const rest = { ...json({ name: 'a' }), pathParameters: { sandbox_id: 'sb_1' } };
    expect(await call(createCheckpoint, rest, given)).toEqual({
      sandbox_id: 'sb_1',
      name: 'a',
      created_at: 1,
      files: 2,
      bytes: 3,
    });
    expect(await call(createCheckpoint, message({ sandbox_id: 'sb_1', name: 'a' }), given)).toEqual({
      sandbox_id: 'sb_1',
      name: 'a',
      created_at: 1,
      files: 2,
      bytes: 3,
    });
    expect(seen).toEqual([
      ['sb_1', 'a', undefined],
      ['sb_1', 'a', undefined],
    ]);
  });
});
