import { define } from './define.ts';

export const deleteProcess = define('DeleteProcess', {}, async ({ request }, { services }) => {
  await services.processes.delete(request.sandbox_id, request.process_id);
  return {};
});
