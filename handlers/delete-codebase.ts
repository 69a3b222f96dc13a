import { codebaseId, define } from './define.ts';

export const deleteCodebase = define(codebaseId, async ({ request }, { services }) => {
  await services.codebases.delete(request.codebase_id);
  return {};
});
