import { actor, archive, defineUpload } from './define.ts';

/** All of the archive is there when the content has ended; when it throws, nothing is changed. */
export const importFiles = defineUpload(
  'ImportFiles',
  { ...actor, ...archive, path: { format: 'directory-path' } },
  (request, content, { services }) => services.sandboxes.importFiles(request, content),
);
