import { define, expiryPolicy, idlePolicy, LISTS, labels, sandboxSurroundings } from './define.ts';

export const updateSandbox = define(
  {
    rpc: 'UpdateSandbox',
    route: 'PATCH /v1/sandboxes/{sandbox_id}',
    access: { role: 'owner', scope: 'sandboxes:write', on: 'sandbox' },
    retry: 'again',
    maxBody: LISTS,
    example: { body: { labels: { ticket: '1234', draft: null }, expires_in: 3600 } },
    constraints: {
      labels,
      remove_labels: { maxItems: labels.maxItems, items: labels.keys },
      ...expiryPolicy,
      ...idlePolicy,
      ...sandboxSurroundings,
      remove_env: { maxItems: sandboxSurroundings.env.maxItems, items: sandboxSurroundings.env.keys },
    },
    patch: {
      removes: {
        labels: { keys: 'remove_labels', all: 'clear_labels' },
        env: { keys: 'remove_env', all: 'clear_env' },
      },
      resets: { expires_in: 0, on_expire: '', idle_timeout: 0, on_idle: '', shell: '', workdir: '' },
    },
  },
  ({ request }, { services }) => services.sandboxes.update(request),
);
