import { actor, define } from './define.ts';

export const statFile = define(
  'StatFile',
  { ...actor, path: { format: 'directory-path' } },
  ({ request }, { services }) => services.sandboxes.statFile(request),
);
