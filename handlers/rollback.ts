import { define } from './define.ts';

export const rollback = define('Rollback', {}, ({ request }, { services }) =>
  services.sandboxes.rollback(request.sandbox_id, request.checkpoint),
);
