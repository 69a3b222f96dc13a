import { definePatch, expiryPolicy, idlePolicy, labels } from './define.ts';

export const updateSandbox = definePatch(
  'UpdateSandbox',
  {
    labels,
    remove_labels: { maxItems: labels.maxItems, items: labels.keys },
    ...expiryPolicy,
    ...idlePolicy,
  },
  {
    removes: { labels: { keys: 'remove_labels', all: 'clear_labels' } },
    resets: { expires_in: 0, on_expire: '', idle_timeout: 0, on_idle: '' },
  },
  ({ request }, { services }) => services.sandboxes.update(request),
);
