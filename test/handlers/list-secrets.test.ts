import { expect, it } from 'vitest';
import { listSecrets } from '../../handlers/secrets.ts';
import { call, message } from './call.ts';

it('ListSecrets passes on the owner and the page', async () => {
  const list = (request: object) => request as never;
  const request = { owner_id: 'ann', page_size: 2, page_token: 'a' };
  expect(await call(listSecrets, message(request), { secrets: { list } })).toEqual(request);
});
