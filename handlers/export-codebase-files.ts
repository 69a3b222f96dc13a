import { archive, define, type Export, exported } from './define.ts';

export const exportCodebaseFiles = define(
  'ExportCodebaseFiles',
  { ...archive, path: { format: 'directory-path' } },
  async ({ request }, { services }): Promise<Export> =>
    exported(await services.codebases.exportArchive(request.codebase_id, request.path)),
);
