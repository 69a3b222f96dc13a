import { describe, expect, it } from 'vitest';
import { createSession } from '../../handlers/sessions.ts';
import { call, json, message } from './call.ts';

describe('CreateSession', () => {
  it('makes the same call for JSON with a path and for a decoded message', async () => {
    const seen: unknown[] = [];
    const fake = (request: unknown) => {
      seen.push(request);
      return {};
    };
    const given = { sessions: { create: fake as never } };
    const rest = { ...json({ shell: 'dash', env: { A: 'b' } }), pathParameters: { sandbox_id: 'sb_1' } };
    expect(await call(createSession, rest, given)).toEqual({});
    expect(await call(createSession, message({ sandbox_id: 'sb_1', shell: 'dash', env: { A: 'b' } }), given)).toEqual(
      {},
    );
    expect(seen).toEqual([
      { sandbox_id: 'sb_1', shell: 'dash', env: { A: 'b' } },
      { sandbox_id: 'sb_1', shell: 'dash', env: { A: 'b' } },
    ]);
  });
});
