import { define, sandboxId } from './define.ts';

export const destroySandbox = define(sandboxId, async ({ request }, { services }) => {
  await services.sandboxes.destroy(request.sandbox_id);
  return {};
});
