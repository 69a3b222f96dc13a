import { define } from './define.ts';

export const deleteCodebase = define('DeleteCodebase', {}, async ({ request }, { services }) => {
  await services.codebases.delete(request.codebase_id);
  return {};
});
