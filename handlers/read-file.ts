import { actor, type Download, define, download } from './define.ts';

export const readFile = define(
  'ReadFile',
  { ...actor, path: { format: 'file-path' } },
  async ({ request }, { services }): Promise<Download> => download(await services.sandboxes.readFile(request)),
);
