import { define } from './define.ts';

export const listCheckpoints = define('ListCheckpoints', {}, async ({ request }, { services }) => ({
  checkpoints: await services.sandboxes.listCheckpoints(request.sandbox_id),
}));
