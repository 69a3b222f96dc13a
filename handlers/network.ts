import { define, httpMethod, httpPath, LISTS, networkHost, networkPolicy, page, port } from './define.ts';

export const getNetwork = define(
  {
    rpc: 'GetNetwork',
    route: 'GET /v1/sandboxes/{sandbox_id}/network',
    access: { role: 'agent', scope: 'sandboxes:read', on: 'sandbox' },
    retry: 'read',
  },
  ({ request }, { services }) => services.networks.get(request.sandbox_id),
);

export const updateNetwork = define(
  {
    rpc: 'UpdateNetwork',
    route: 'PUT /v1/sandboxes/{sandbox_id}/network',
    access: { role: 'owner', scope: 'permissions:write', on: 'sandbox' },
    retry: 'same',
    maxBody: LISTS,
    example: { body: { mode: 'none' } },
    constraints: { ...networkPolicy, mode: { ...networkPolicy.mode, required: true } },
  },
  ({ request }, { services }) => services.networks.update(request),
);

export const explainNetwork = define(
  {
    rpc: 'ExplainNetwork',
    route: 'GET /v1/sandboxes/{sandbox_id}/network/explain',
    access: { role: 'agent', scope: 'sandboxes:read', on: 'sandbox' },
    retry: 'read',
    example: { query: { host: 'registry.npmjs.org' } },
    constraints: {
      host: { ...networkHost, required: true },
      port: { ...port, orZero: true, default: 443 },
      method: httpMethod,
      path: httpPath,
    },
  },
  ({ request }, { services }) => services.networks.explain(request),
);

export const listConnections = define(
  {
    rpc: 'ListConnections',
    route: 'GET /v1/sandboxes/{sandbox_id}/network/connections',
    access: { role: 'owner', scope: 'sandboxes:read', on: 'sandbox' },
    retry: 'read',
    counts: ['list'],
    constraints: page,
  },
  ({ request }, { services }) => services.networks.connections(request),
);

export const listNetworkPresets = define(
  {
    rpc: 'ListNetworkPresets',
    route: 'GET /v1/network-presets',
    access: { role: 'agent', on: 'nothing' },
    retry: 'read',
    counts: ['list'],
  },
  (_input, { services }) => ({
    presets: services.networks.presets(),
  }),
);
