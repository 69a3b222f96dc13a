import { expect, it } from 'vitest';
import { createTicket } from '../../handlers/keys.ts';
import { noKeys } from '../../lib/access/no-keys.ts';
import { call, json, message } from './call.ts';

it('CreateTicket passes on the path, and needs one', async () => {
  const createTicketOf = (path: string) => ({ ticket: path, expires_at: 1 });
  const given = { keys: { createTicket: createTicketOf } };
  expect(await call(createTicket, json({ path: '/v1/a' }), given)).toEqual({ ticket: '/v1/a', expires_at: 1 });
  await expect(call(createTicket, message({}), given)).rejects.toThrow('path is required');
});

it('CreateTicket is refused without authentication', async () => {
  const refused = call(createTicket, message({ path: '/v1/a' }), { keys: noKeys });
  await expect(refused).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
});
