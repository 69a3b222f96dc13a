import { expect, it } from 'vitest';
import { getCaller } from '../../handlers/keys.ts';
import { noKeys } from '../../lib/access/no-keys.ts';
import { unlimitedOwners } from '../../lib/limits/stored-limits.ts';
import { call, message } from './call.ts';
import { permittedRequest, rows } from './permitted-requests.ts';

const given = { keys: noKeys, owners: unlimitedOwners(1) };

it('GetCaller describes every caller as an admin', async () => {
  const caller = { role: 'admin', owner_id: '', sandbox_id: '', scopes: [] };
  expect(await call(getCaller, message({}), given)).toEqual(caller);
});

it.each(['CreateKey', 'ListKeys', 'RevokeKey', 'CreateTicket', 'SetOwnerLimits'])('%s is refused', async (name) => {
  const row = rows.find(({ operation }) => operation === name)!;
  await expect(call(row.handler, message(permittedRequest(row)), given)).rejects.toMatchObject({
    code: 'FAILED_PRECONDITION',
    message: expect.stringMatching(/^the server has no .*: its configuration has auth.mode: off$/),
  });
});
