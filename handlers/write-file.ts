import { actor, defineUpload, permissionBits } from './define.ts';

/** Writes one file, visible after the end of its content; an error of the content changes nothing. */
export const writeFile = defineUpload(
  'WriteFile',
  { ...actor, ...permissionBits, path: { format: 'file-path' } },
  (request, content, { services }) => services.sandboxes.writeFile(request, content),
);
