import { define, fileRequest, readUpload, string } from './define.ts';

const importFilesRequest = { ...fileRequest, format: string };

/** All of it is there when `stream` has ended; when it throws, nothing is changed. */
export const importFiles = define(importFilesRequest, async ({ request, stream }, { services }) => {
  const { head, content } = await readUpload(importFilesRequest, request, stream);
  return services.sandboxes.importFiles(head, content);
});
