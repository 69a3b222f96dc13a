import { dataMessages, define, fileRequest, string } from './define.ts';

export const exportFiles = define({ ...fileRequest, format: string }, async ({ request }, { services }) => {
  const bytes = await services.sandboxes.exportFiles(request);
  return { contentType: bytes.contentType, [Symbol.asyncIterator]: () => dataMessages(bytes) };
});
