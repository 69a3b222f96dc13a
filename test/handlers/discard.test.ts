import { describe, expect, it } from 'vitest';
import { discard } from '../../handlers/changes.ts';
import { call, json, message } from './call.ts';

describe('Discard', () => {
  it('passes on the paths of JSON and of a decoded message', async () => {
    const seen: unknown[] = [];
    const fake = async (...args: unknown[]) => {
      seen.push(args);
      return { discarded: 2 };
    };
    const given = { sandboxes: { discard: fake } };
    const event = {
      ...json({ paths: ['a', 'b/c'], exclude: ['*.log'], include_scratch: true }),
      pathParameters: { sandbox_id: 'sb_1' },
    };
    expect(await call(discard, event, given)).toEqual({ discarded: 2 });
    await call(discard, message({ sandbox_id: 'sb_2' }), given);
    expect(seen).toEqual([
      ['sb_1', ['a', 'b/c'], { exclude: ['*.log'], include_scratch: true }],
      ['sb_2', [], { exclude: [], include_scratch: false }],
    ]);
  });
});
