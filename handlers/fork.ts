import { withShownWarnings } from '../lib/access/shown-warnings.ts';
import { define, LISTS, newSandbox } from './define.ts';

export const fork = define(
  {
    rpc: 'Fork',
    route: 'POST /v1/sandboxes/{sandbox_id}/fork',
    access: { role: 'owner', scope: 'sandboxes:write', on: 'sandbox' },
    retry: 'key',
    counts: ['create'],
    maxBody: LISTS,
    example: { body: { count: 2 } },
    constraints: { ...newSandbox, count: { minimum: 1, maximum: 100, orZero: true, default: 1 } },
  },
  async ({ request }, { services, intent, guard }) => {
    const results = await services.sandboxes.fork({ ...request, intent });
    const shown = results.map((each) =>
      each.sandbox ? { ...each, sandbox: withShownWarnings(guard.principal, each.sandbox) } : each,
    );
    return { results: shown };
  },
);
