import { actor, define } from './define.ts';

export const moveFile = define(
  'MoveFile',
  { ...actor, from: { format: 'file-path' }, to: { format: 'file-path' } },
  ({ request }, { services }) => services.sandboxes.moveFile(request),
);
