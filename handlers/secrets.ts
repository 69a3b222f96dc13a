import { define, page, plainName, secretFields, secretName } from './define.ts';

export const putSecret = define(
  {
    rpc: 'PutSecret',
    route: 'PUT /v1/secrets/{name}',
    access: { role: 'owner', scope: 'secrets:write', on: 'owner' },
    retry: 'same',
    maxBody: 1024 * 1024,
    example: { path: { name: 'github' }, body: { value: 'ghp_example', hosts: ['api.github.com'], shape: 'ghp_' } },
    constraints: { name: { required: true, ...secretName }, owner_id: plainName, ...secretFields },
  },
  ({ request }, { services }) => services.secrets.put(request),
);

export const getSecret = define(
  {
    rpc: 'GetSecret',
    route: 'GET /v1/secrets/{name}',
    access: { role: 'owner', scope: 'secrets:read', on: 'owner' },
    retry: 'read',
    example: { path: { name: 'github' } },
    constraints: { name: { required: true, ...secretName }, owner_id: plainName },
  },
  ({ request }, { services }) => services.secrets.get(request),
);

export const listSecrets = define(
  {
    rpc: 'ListSecrets',
    route: 'GET /v1/secrets',
    access: { role: 'owner', scope: 'secrets:read', on: 'owner' },
    retry: 'read',
    counts: ['list'],
    constraints: { ...page, owner_id: plainName },
  },
  ({ request }, { services }) => services.secrets.list(request),
);

export const deleteSecret = define(
  {
    rpc: 'DeleteSecret',
    route: 'DELETE /v1/secrets/{name}',
    access: { role: 'owner', scope: 'secrets:write', on: 'owner' },
    retry: 'same',
    example: { path: { name: 'github' } },
    constraints: { name: { required: true, ...secretName }, owner_id: plainName },
  },
  async ({ request }, { services }) => {
    await services.secrets.remove(request);
    return {};
  },
);
