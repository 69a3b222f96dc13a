import { define, string } from './define.ts';

export const deleteCheckpoint = define({ sandbox_id: string, name: string }, async ({ request }, { services }) => {
  await services.sandboxes.deleteCheckpoint(request.sandbox_id, request.name);
  return {};
});
