import { expect, it } from 'vitest';
import { getOwnerLimits } from '../../handlers/owners.ts';
import { call, message } from './call.ts';

it('GetOwnerLimits passes on the owner', async () => {
  const get = (owner_id: string) => ({ owner_id, set: {}, effective: { commands: 1 } });
  const answer = { owner_id: 'ann', set: {}, effective: { commands: 1 } };
  expect(await call(getOwnerLimits, { pathParameters: { owner_id: 'ann' } }, { owners: { get } })).toEqual(answer);
  expect(await call(getOwnerLimits, message({ owner_id: 'ann' }), { owners: { get } })).toEqual(answer);
});
