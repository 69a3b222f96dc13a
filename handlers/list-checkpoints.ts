import { define, sandboxId } from './define.ts';

export const listCheckpoints = define(sandboxId, ({ request }, { services }) => ({
  checkpoints: services.sandboxes.listCheckpoints(request.sandbox_id),
}));
