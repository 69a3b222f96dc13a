import { actor, define, page } from './define.ts';

export const listDirectory = define(
  'ListDirectory',
  { ...actor, ...page, path: { format: 'directory-path' } },
  ({ request }, { services }) => services.sandboxes.listDirectory(request),
);
