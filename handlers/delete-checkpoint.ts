import { define } from './define.ts';

export const deleteCheckpoint = define('DeleteCheckpoint', {}, async ({ request }, { services }) => {
  await services.sandboxes.deleteCheckpoint(request.sandbox_id, request.name);
  return {};
});
