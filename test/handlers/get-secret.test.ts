import { expect, it } from 'vitest';
import { getSecret } from '../../handlers/secrets.ts';
import { call, message } from './call.ts';

it('GetSecret passes on the owner and the name', async () => {
  const requests: object[] = [];
  const get = (request: object) => requests.push(request) as never;
  await call(getSecret, message({ name: 'github', owner_id: 'ann' }), { secrets: { get } });
  expect(requests).toMatchObject([{ name: 'github', owner_id: 'ann' }]);
  await expect(call(getSecret, message({ name: '../a' }), {})).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});
