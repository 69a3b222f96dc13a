import { actor, define } from './define.ts';

export const explainPermission = define(
  'ExplainPermission',
  { ...actor, path: { format: 'directory-path' } },
  ({ request }, { services }) => services.sandboxes.explainPermission(request.sandbox_id, request.path, request.as),
);
