import { describe, expect, it } from 'vitest';
import { listSessions } from '../../handlers/sessions.ts';
import { call, json, message } from './call.ts';

describe('ListSessions', () => {
  it('makes the same call for JSON with a path and for a decoded message', async () => {
    const seen: unknown[] = [];
    const fake = (request: unknown) => {
      seen.push(request);
      return {};
    };
    const given = { sessions: { list: fake as never } };
    const rest = { ...json({}), pathParameters: { sandbox_id: 'sb_1' } };
    expect(await call(listSessions, rest, given)).toEqual({});
    expect(await call(listSessions, message({ sandbox_id: 'sb_1' }), given)).toEqual({});
    expect(seen).toEqual([
      { sandbox_id: 'sb_1', page_size: 100, page_token: '' },
      { sandbox_id: 'sb_1', page_size: 100, page_token: '' },
    ]);
  });
});
