import { actor, archive, defineUpload } from './define.ts';

/** Imports an archive at the end of its content, atomically; an error of the content changes nothing. */
export const importFiles = defineUpload(
  'ImportFiles',
  { ...actor, ...archive, path: { format: 'directory-path' } },
  (request, content, { services }) => services.sandboxes.importFiles(request, content),
);
