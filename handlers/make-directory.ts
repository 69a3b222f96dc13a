import { actor, define, permissionBits } from './define.ts';

export const makeDirectory = define(
  'MakeDirectory',
  { ...actor, ...permissionBits, path: { format: 'file-path' } },
  ({ request }, { services }) => services.sandboxes.makeDirectory(request),
);
