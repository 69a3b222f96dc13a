import { actor, define } from './define.ts';

export const deleteFile = define(
  'DeleteFile',
  { ...actor, path: { format: 'file-path' } },
  ({ request }, { services }) => services.sandboxes.deleteFile(request),
);
