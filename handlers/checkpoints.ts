import { define } from './define.ts';

export const createCheckpoint = define(
  {
    rpc: 'CreateCheckpoint',
    route: 'POST /v1/sandboxes/{sandbox_id}/checkpoints',
    access: { role: 'owner', scope: 'sandboxes:write', on: 'sandbox' },
    retry: 'key',
    counts: ['create'],
    example: { body: { name: 'before' } },
    constraints: {
      name: {
        required: true,
        pattern: { source: '[\\w.\\-]{1,128}', problem: 'must have 1 to 128 letters, digits, ".", "_" or "-"' },
      },
    },
  },
  ({ request }, { services, intent }) => services.sandboxes.createCheckpoint(request.sandbox_id, request.name, intent),
);

export const listCheckpoints = define(
  {
    rpc: 'ListCheckpoints',
    route: 'GET /v1/sandboxes/{sandbox_id}/checkpoints',
    access: { role: 'owner', scope: 'sandboxes:read', on: 'sandbox' },
    retry: 'read',
    counts: ['list'],
  },
  async ({ request }, { services }) => ({
    checkpoints: await services.sandboxes.listCheckpoints(request.sandbox_id),
  }),
);

export const deleteCheckpoint = define(
  {
    rpc: 'DeleteCheckpoint',
    route: 'DELETE /v1/sandboxes/{sandbox_id}/checkpoints/{name}',
    access: { role: 'owner', scope: 'sandboxes:write', on: 'sandbox' },
    retry: 'same',
    example: { path: { name: 'before' } },
  },
  async ({ request }, { services }) => {
    await services.sandboxes.deleteCheckpoint(request.sandbox_id, request.name);
    return {};
  },
);

export const rollback = define(
  {
    rpc: 'Rollback',
    route: 'POST /v1/sandboxes/{sandbox_id}/rollback',
    access: { role: 'owner', scope: 'sandboxes:write', on: 'sandbox' },
    retry: 'again',
    example: { body: { checkpoint: 'before' } },
    constraints: { checkpoint: { required: true } },
  },
  ({ request }, { services }) => services.sandboxes.rollback(request.sandbox_id, request.checkpoint),
);
