import { define, string } from './define.ts';

export const rollback = define({ sandbox_id: string, checkpoint: string }, ({ request }, { services }) =>
  services.sandboxes.rollback(request.sandbox_id, request.checkpoint),
);
