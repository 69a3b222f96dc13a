import { define, LISTS, newSession, page } from './define.ts';

export const createSession = define(
  {
    rpc: 'CreateSession',
    route: 'POST /v1/sandboxes/{sandbox_id}/sessions',
    access: { role: 'agent', scope: 'exec', on: 'sandbox' },
    retry: 'again',
    counts: ['command'],
    maxBody: LISTS,
    example: { body: { env: { EDITOR: 'vi' } } },
    constraints: newSession,
  },
  ({ request }, { services, signal }) => services.sessions.create(request, signal),
);

export const getSession = define(
  {
    rpc: 'GetSession',
    route: 'GET /v1/sessions/{session_id}',
    access: { role: 'agent', scope: 'exec', on: 'session' },
    retry: 'read',
  },
  ({ request }, { services }) => services.sessions.get(request.session_id),
);

export const listSessions = define(
  {
    rpc: 'ListSessions',
    route: 'GET /v1/sandboxes/{sandbox_id}/sessions',
    access: { role: 'agent', scope: 'exec', on: 'sandbox' },
    retry: 'read',
    counts: ['list'],
    constraints: page,
  },
  ({ request }, { services }) => services.sessions.list(request),
);

export const destroySession = define(
  {
    rpc: 'DestroySession',
    route: 'DELETE /v1/sessions/{session_id}',
    access: { role: 'agent', scope: 'exec', on: 'session' },
    retry: 'same',
  },
  async ({ request }, { services }) => {
    await services.sessions.destroy(request.session_id);
    return {};
  },
);
