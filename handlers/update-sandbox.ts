import { definePatch, expiryPolicy, idlePolicy, labels, sandboxSurroundings } from './define.ts';

export const updateSandbox = definePatch(
  'UpdateSandbox',
  {
    labels,
    remove_labels: { maxItems: labels.maxItems, items: labels.keys },
    ...expiryPolicy,
    ...idlePolicy,
    ...sandboxSurroundings,
    remove_env: { maxItems: sandboxSurroundings.env.maxItems, items: sandboxSurroundings.env.keys },
  },
  {
    removes: { labels: { keys: 'remove_labels', all: 'clear_labels' }, env: { keys: 'remove_env', all: 'clear_env' } },
    resets: { expires_in: 0, on_expire: '', idle_timeout: 0, on_idle: '', shell: '', workdir: '' },
  },
  ({ request }, { services }) => services.sandboxes.update(request),
);
