import { actor, define, LISTS, labels, page } from './define.ts';

export const getSandbox = define(
  {
    rpc: 'GetSandbox',
    route: 'GET /v1/sandboxes/{sandbox_id}',
    access: { role: 'agent', scope: 'sandboxes:read', on: 'sandbox' },
    retry: 'read',
    constraints: actor,
  },
  ({ request }, { services }) => services.sandboxes.get(request.sandbox_id, request.as),
);

export const listSandboxes = define(
  {
    rpc: 'ListSandboxes',
    route: 'GET /v1/sandboxes',
    access: { role: 'owner', scope: 'sandboxes:read', on: 'owner' },
    retry: 'read',
    counts: ['list'],
    maxBody: LISTS,
    example: { query: { status: 'SANDBOX_RUNNING', page_size: 20 } },
    constraints: { ...page, labels },
  },
  ({ request }, { services }) => services.sandboxes.list(request),
);

export const startSandbox = define(
  {
    rpc: 'StartSandbox',
    route: 'POST /v1/sandboxes/{sandbox_id}/start',
    access: { role: 'owner', scope: 'sandboxes:write', on: 'sandbox' },
    retry: 'same',
  },
  ({ request }, { services }) => services.sandboxes.start(request.sandbox_id),
);

export const stopSandbox = define(
  {
    rpc: 'StopSandbox',
    route: 'POST /v1/sandboxes/{sandbox_id}/stop',
    access: { role: 'owner', scope: 'sandboxes:write', on: 'sandbox' },
    retry: 'same',
  },
  ({ request }, { services }) => services.sandboxes.stop(request.sandbox_id),
);

export const destroySandbox = define(
  {
    rpc: 'DestroySandbox',
    route: 'DELETE /v1/sandboxes/{sandbox_id}',
    access: { role: 'owner', scope: 'sandboxes:write', on: 'sandbox' },
    retry: 'same',
    example: { query: { discard: true } },
  },
  async ({ request }, { services }) => {
    await services.sandboxes.destroy(request.sandbox_id, request.discard);
    return {};
  },
);
