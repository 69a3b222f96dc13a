import { describe, expect, it } from 'vitest';
import { createKey } from '../../handlers/keys.ts';
import { OPEN } from '../../lib/access/guard.ts';
import { ANYONE } from '../../lib/access/principal.ts';
import type { Keys } from '../../lib/services.ts';
import { aKey } from '../adapters/fake-services.ts';
import { call, json, message } from './call.ts';

const answer = { key: aKey, secret: 'pdk_7f3a9c2e_x', notice: '' };

async function asked(body: object): Promise<Parameters<Keys['create']>> {
  const seen: Parameters<Keys['create']>[] = [];
  const create: Keys['create'] = async (...args) => {
    seen.push(args);
    return answer;
  };
  const guard = { ...OPEN, principal: { ...ANYONE, key_id: 'creator1' } };
  expect(await call(createKey, json(body), { keys: { create }, guard })).toEqual(answer);
  return seen[0]!;
}

describe('CreateKey', () => {
  it('passes on the request, with the key of the caller', async () => {
    const request = { name: 'ci', role: 'agent', owner_id: '', sandbox_id: 'sb_1', scopes: ['exec'], expires_in: 60 };
    expect(await asked(request)).toEqual([request, 'creator1']);
  });

  it.each([
    [{ role: 'owner' }, 'name is required'],
    [{ name: 'a' }, 'role is required'],
    [{ name: 'a', role: 'root' }, 'role must be admin, owner or agent'],
    [{ name: 'a', role: 'owner', owner_id: 'a\n' }, 'owner_id must have no control characters'],
    [{ name: 'a', role: 'owner', scopes: [''] }, 'scopes[0] must not be empty'],
    [{ name: 'a', role: 'owner', expires_in: -1 }, 'expires_in must be between 0 and 315360000 seconds'],
    [{ name: 'a', role: 'owner', scopes: Array(100).fill('exec') }, 'scopes must have at most 15 entries, not 100'],
  ])('refuses %j', async (body, problem) => {
    await expect(call(createKey, message(body), {})).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: problem,
    });
  });

  it('refuses an unknown scope by naming all scopes', async () => {
    const refused = call(createKey, message({ name: 'a', role: 'owner', scopes: ['exec', 'all'] }), {});
    await expect(refused).rejects.toThrow(/^scopes\[1\] must be sandboxes:read, .*keys:write/);
  });
});
