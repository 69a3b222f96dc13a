import { withShownWarnings } from '../lib/access/shown-warnings.ts';
import { actor, define, LISTS, rules, shortRules } from './define.ts';

export const updatePermissions = define(
  {
    rpc: 'UpdatePermissions',
    route: 'PUT /v1/sandboxes/{sandbox_id}/permissions',
    access: { role: 'owner', scope: 'permissions:write', on: 'sandbox' },
    retry: 'same',
    maxBody: LISTS,
    example: { body: { preset: 'agent-safe' } },
    constraints: { permissions: rules, rules: shortRules },
  },
  async ({ request }, { services, guard }) =>
    withShownWarnings(guard.principal, await services.sandboxes.updatePermissions(request)),
);

export const explainPermission = define(
  {
    rpc: 'ExplainPermission',
    route: 'GET /v1/sandboxes/{sandbox_id}/permissions/explain',
    access: { role: 'agent', scope: 'sandboxes:read', on: 'sandbox' },
    retry: 'read',
    example: { query: { path: 'src/main.py' } },
    constraints: { ...actor, path: { format: 'directory-path' } },
  },
  ({ request }, { services }) => services.sandboxes.explainPermission(request.sandbox_id, request.path, request.as),
);

export const listRefusals = define(
  {
    rpc: 'ListRefusals',
    route: 'GET /v1/sandboxes/{sandbox_id}/permissions/refusals',
    access: { role: 'owner', scope: 'sandboxes:read', on: 'sandbox' },
    retry: 'read',
    counts: ['list'],
  },
  async ({ request }, { services }) => ({
    refusals: await services.sandboxes.listRefusals(request.sandbox_id),
  }),
);

export const listPresets = define(
  {
    rpc: 'ListPresets',
    route: 'GET /v1/presets',
    access: { role: 'agent', on: 'nothing' },
    retry: 'read',
    counts: ['list'],
  },
  (_input, { services }) => ({
    presets: services.sandboxes.presets(),
  }),
);
