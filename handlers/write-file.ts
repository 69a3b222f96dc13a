import { define, fileMode, fileRequest, readUpload } from './define.ts';

const writeFileRequest = { ...fileRequest, mode: fileMode };

/** The file appears when `stream` ends; when it throws, nothing is changed. */
export const writeFile = define(writeFileRequest, async ({ request, stream }, { services }) => {
  const { head, content } = await readUpload(writeFileRequest, request, stream);
  return services.sandboxes.writeFile(head, content);
});
