import { describe, expect, it } from 'vitest';
import { rollback } from '../../handlers/checkpoints.ts';
import { call, json, message } from './call.ts';

describe('Rollback', () => {
  it('makes the same call for JSON with a path and for a decoded message', async () => {
    const seen: unknown[] = [];
    const fake = (...args: unknown[]) => {
      seen.push(args);
      return { id: 'sb_1' };
    };
    const given = { sandboxes: { rollback: fake as never } };
    const rest = { ...json({ checkpoint: 'a' }), pathParameters: { sandbox_id: 'sb_1' } };
    expect(await call(rollback, rest, given)).toEqual({ id: 'sb_1' });
    expect(await call(rollback, message({ sandbox_id: 'sb_1', checkpoint: 'a' }), given)).toEqual({ id: 'sb_1' });
    expect(seen).toEqual([
      ['sb_1', 'a'],
      ['sb_1', 'a'],
    ]);
  });
});
