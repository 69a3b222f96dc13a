import { define, permissionRules, string } from './define.ts';

export const updatePermissions = define(
  { sandbox_id: string, permissions: permissionRules, preset: string },
  ({ request }, { services }) => services.sandboxes.updatePermissions(request),
);
