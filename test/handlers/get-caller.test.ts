import { expect, it } from 'vitest';
import { getCaller } from '../../handlers/keys.ts';
import { noKeys } from '../../lib/access/no-keys.ts';
import { call, message } from './call.ts';

it('GetCaller describes the caller; without authentication every caller is an admin', async () => {
  const caller = { role: 'admin', owner_id: '', sandbox_id: '', scopes: [] };
  expect(await call(getCaller, message({}), { keys: noKeys })).toEqual(caller);
});

it('the other operations on keys are refused without authentication', async () => {
  const refused = {
    code: 'FAILED_PRECONDITION',
    message: 'the server has no keys: its configuration has auth.mode: off',
  };
  await expect(noKeys.create({} as never, '')).rejects.toMatchObject(refused);
  await expect(noKeys.revoke('a')).rejects.toMatchObject(refused);
  expect(() => noKeys.list({} as never)).toThrow(refused.message);
});
