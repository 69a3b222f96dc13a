import { actor, archive, define, type Export, exported } from './define.ts';

export const exportFiles = define(
  'ExportFiles',
  { ...actor, ...archive, path: { format: 'directory-path' } },
  async ({ request }, { services }): Promise<Export> => exported(await services.sandboxes.exportFiles(request)),
);
