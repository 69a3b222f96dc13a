import { define, string } from './define.ts';

export const removeFile = define({ codebase_id: string, file_path: string }, async ({ request }, { services }) => {
  await services.codebases.removeFile(request.codebase_id, request.file_path);
  return {};
});
