import { defineWithoutRequest } from './define.ts';

/** Succeeds as long as the server accepts requests. */
export const health = defineWithoutRequest(
  {
    rpc: 'Health',
    route: 'GET /health',
    access: { role: 'public' },
    retry: 'read',
  },
  () => ({ status: 'ok' }),
);
