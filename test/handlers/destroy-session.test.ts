import { describe, expect, it } from 'vitest';
import { destroySession } from '../../handlers/sessions.ts';
import { call, json, message } from './call.ts';

describe('DestroySession', () => {
  it('makes the same call for JSON with a path and for a decoded message', async () => {
    const seen: unknown[] = [];
    const fake = (request: unknown) => {
      seen.push(request);
      return {};
    };
    const given = { sessions: { destroy: fake as never, placeOf: () => undefined } };
    const rest = { ...json({}), pathParameters: { session_id: 'se_1' } };
    expect(await call(destroySession, rest, given)).toEqual({});
    expect(await call(destroySession, message({ session_id: 'se_1' }), given)).toEqual({});
    expect(seen).toEqual(['se_1', 'se_1']);
  });
});
