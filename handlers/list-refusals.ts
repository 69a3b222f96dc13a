import { define } from './define.ts';

export const listRefusals = define('ListRefusals', {}, async ({ request }, { services }) => ({
  refusals: await services.sandboxes.listRefusals(request.sandbox_id),
}));
