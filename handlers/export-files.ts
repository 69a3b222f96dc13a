import { actor, archive, dataMessages, define } from './define.ts';

export const exportFiles = define(
  'ExportFiles',
  { ...actor, ...archive, path: { format: 'directory-path' } },
  async ({ request }, { services }) => {
    const bytes = await services.sandboxes.exportFiles(request);
    return { contentType: bytes.contentType, [Symbol.asyncIterator]: () => dataMessages(bytes) };
  },
);
