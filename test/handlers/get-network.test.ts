import { expect, it } from 'vitest';
import { getNetwork } from '../../handlers/network.ts';
import { call } from './call.ts';

it('GetNetwork answers with the policy of the sandbox', async () => {
  const policy = { mode: 'none', rules: [], revision: 3, presets: [] };
  const get = (id: string) => ({ ...policy, mode: id });
  const event = { pathParameters: { sandbox_id: 'sb_1' } };
  expect(await call(getNetwork, event, { networks: { get } })).toEqual({ ...policy, mode: 'sb_1' });
});
