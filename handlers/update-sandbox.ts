import { definePatch, labels, lifetime } from './define.ts';

export const updateSandbox = definePatch(
  'UpdateSandbox',
  {
    labels,
    remove_labels: { maxItems: labels.maxItems, items: labels.keys },
    expires_in: lifetime,
  },
  { removes: { labels: { keys: 'remove_labels', all: 'clear_labels' } }, resets: { expires_in: 0 } },
  ({ request }, { services }) => services.sandboxes.update(request),
);
