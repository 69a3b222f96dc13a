import { expect, it } from 'vitest';
import { deleteSecret } from '../../handlers/secrets.ts';
import { call, message } from './call.ts';

it('DeleteSecret passes on the owner and the name', async () => {
  const requests: object[] = [];
  const remove = (request: object) => requests.push(request) as never;
  await call(deleteSecret, message({ name: 'github', owner_id: 'ann' }), { secrets: { remove } });
  expect(requests).toMatchObject([{ name: 'github', owner_id: 'ann' }]);
  await expect(call(deleteSecret, message({ name: '../a' }), {})).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});
