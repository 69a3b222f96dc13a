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

  it('refuses an unknown scope by naming all scopes', async () => {
    const refused = call(createKey, message({ name: 'a', role: 'owner', scopes: ['exec', 'all'] }), {});
    await expect(refused).rejects.toThrow(/^scopes\[1\] must be sandboxes:read, .*keys:write/);
  });
});
