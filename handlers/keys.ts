import { ROLES, SCOPES } from '../lib/access/principal.ts';
import { define, lifetime, page, plainName } from './define.ts';

export const createKey = define(
  {
    rpc: 'CreateKey',
    route: 'POST /v1/keys',
    access: { role: 'owner', scope: 'keys:write', on: 'new-key' },
    retry: 'key',
    counts: ['create'],
    example: { body: { name: 'ci', role: 'owner', owner_id: 'ann', expires_in: 86400 } },
    constraints: {
      name: { required: true, ...plainName },
      role: { required: true, values: ROLES },
      owner_id: plainName,
      // Without a maximum, keys with repeated scopes could fill the metadata.
      scopes: { maxItems: SCOPES.length, items: { minLength: 1, values: SCOPES } },
      expires_in: lifetime,
    },
  },
  ({ request }, { services, guard, intent }) => services.keys.create({ ...request, intent }, guard.principal.key_id),
);

export const listKeys = define(
  {
    rpc: 'ListKeys',
    route: 'GET /v1/keys',
    access: { role: 'owner', scope: 'keys:write', on: 'owner' },
    retry: 'read',
    counts: ['list'],
    constraints: page,
  },
  ({ request }, { services }) => services.keys.list(request),
);

export const revokeKey = define(
  {
    rpc: 'RevokeKey',
    route: 'DELETE /v1/keys/{key_id}',
    access: { role: 'owner', scope: 'keys:write', on: 'key' },
    retry: 'same',
    constraints: { key_id: { required: true } },
  },
  async ({ request }, { services }) => {
    await services.keys.revoke(request.key_id);
    return {};
  },
);

export const getCaller = define(
  {
    rpc: 'GetCaller',
    route: 'GET /v1/caller',
    access: { role: 'agent', on: 'nothing' },
    retry: 'read',
  },
  (_input, { services, guard }) => services.keys.describe(guard.principal),
);

export const createTicket = define(
  {
    rpc: 'CreateTicket',
    route: 'POST /v1/tickets',
    access: { role: 'agent', on: 'nothing' },
    retry: 'again',
    example: { body: { path: '/v1/sandboxes/$SANDBOX/files/src/main.py' } },
    constraints: { path: { required: true, maxLength: 8192 } },
  },
  ({ request }, { services, guard }) => services.keys.createTicket(request.path, guard.principal),
);
