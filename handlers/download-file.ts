import { type Download, define, download } from './define.ts';

export const downloadFile = define(
  'DownloadFile',
  { file_path: { format: 'file-path' } },
  async ({ request }, { services }): Promise<Download> =>
    download(await services.codebases.open(request.codebase_id, request.file_path)),
);
