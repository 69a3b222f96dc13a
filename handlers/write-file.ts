import { actor, defineUpload, permissionBits } from './define.ts';

/** The file appears when the content has ended; when it throws, nothing is changed. */
export const writeFile = defineUpload(
  'WriteFile',
  { ...actor, ...permissionBits, path: { format: 'file-path' } },
  (request, content, { services }) => services.sandboxes.writeFile(request, content),
);
