import { PORT_ACCESS } from '../lib/field-values.ts';
import { define, lifetime, portNumber } from './define.ts';

const MAX_PORT = 65_535;
const MAX_WAIT_MS = 600_000;

export const waitPort = define(
  {
    rpc: 'WaitPort',
    route: 'GET /v1/sandboxes/{sandbox_id}/ports',
    access: { role: 'agent', scope: 'exec', on: 'sandbox' },
    retry: 'read',
    counts: ['stream'],
    example: { query: { port: 8000, wait: 1000 } },
    constraints: {
      port: { minimum: 1, maximum: MAX_PORT, orZero: true },
      wait: { minimum: 0, maximum: MAX_WAIT_MS, unit: 'milliseconds' },
    },
  },
  ({ request }, { services, signal }) => services.processes.waitPort(request, signal),
);

export const openPort = define(
  {
    rpc: 'OpenPort',
    route: 'POST /v1/sandboxes/{sandbox_id}/ports',
    access: { role: 'owner', scope: 'sandboxes:write', on: 'sandbox' },
    retry: 'again',
    example: { body: { port: 8000, access: 'link', expires_in: 3600 } },
    constraints: { ...portNumber, access: { values: PORT_ACCESS }, expires_in: lifetime },
  },
  ({ request }, { services }) => services.ports.open(request),
);

export const listPorts = define(
  {
    rpc: 'ListPorts',
    route: 'GET /v1/sandboxes/{sandbox_id}/ports?opened',
    access: { role: 'agent', scope: 'exec', on: 'sandbox' },
    retry: 'read',
    counts: ['list'],
    example: { query: { opened: true } },
  },
  ({ request }, { services, signal }) => services.ports.list(request, signal),
);

export const getPort = define(
  {
    rpc: 'GetPort',
    route: 'GET /v1/sandboxes/{sandbox_id}/ports/{port}',
    access: { role: 'agent', scope: 'exec', on: 'sandbox' },
    retry: 'read',
    example: { path: { port: 8000 } },
    constraints: portNumber,
  },
  ({ request }, { services }) => services.ports.get(request.sandbox_id, request.port),
);

export const closePort = define(
  {
    rpc: 'ClosePort',
    route: 'DELETE /v1/sandboxes/{sandbox_id}/ports/{port}',
    access: { role: 'owner', scope: 'sandboxes:write', on: 'sandbox' },
    retry: 'same',
    example: { path: { port: 8000 } },
    constraints: portNumber,
  },
  async ({ request }, { services }) => {
    await services.ports.close(request.sandbox_id, request.port);
    return {};
  },
);
