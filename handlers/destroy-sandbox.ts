import { define } from './define.ts';

export const destroySandbox = define('DestroySandbox', {}, async ({ request }, { services }) => {
  await services.sandboxes.destroy(request.sandbox_id, request.discard);
  return {};
});
