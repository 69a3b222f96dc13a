import { expect, it } from 'vitest';
import { revokeKey } from '../../handlers/keys.ts';
import { call, message } from './call.ts';

it('RevokeKey passes on the id and answers with an empty message', async () => {
  const ids: string[] = [];
  const revoke = async (id: string) => void ids.push(id);
  const given = { keys: { revoke } };
  expect(await call(revokeKey, { pathParameters: { key_id: '7f3a9c2e' } }, given)).toEqual({});
  expect(await call(revokeKey, message({ key_id: '7f3a9c2e' }), given)).toEqual({});
  expect(ids).toEqual(['7f3a9c2e', '7f3a9c2e']);
});

it('RevokeKey requires an id', async () => {
  await expect(call(revokeKey, message({}), {})).rejects.toThrow('key_id is required');
});
