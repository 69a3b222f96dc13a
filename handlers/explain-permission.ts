import { define } from './define.ts';

export const explainPermission = define(
  'ExplainPermission',
  { path: { format: 'directory-path' } },
  ({ request }, { services }) => services.sandboxes.explainPermission(request.sandbox_id, request.path),
);
