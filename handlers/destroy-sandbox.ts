import { bool, define, string } from './define.ts';

export const destroySandbox = define({ sandbox_id: string, discard: bool }, async ({ request }, { services }) => {
  await services.sandboxes.destroy(request.sandbox_id, request.discard);
  return {};
});
