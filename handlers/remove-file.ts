import { define } from './define.ts';

export const removeFile = define(
  'RemoveFile',
  { file_path: { format: 'file-path' } },
  async ({ request }, { services }) => {
    await services.codebases.removeFile(request.codebase_id, request.file_path);
    return {};
  },
);
