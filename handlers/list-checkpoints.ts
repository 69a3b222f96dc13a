import { define } from './define.ts';

export const listCheckpoints = define('ListCheckpoints', {}, ({ request }, { services }) => ({
  checkpoints: services.sandboxes.listCheckpoints(request.sandbox_id),
}));
