import { define, rules } from './define.ts';

export const updatePermissions = define('UpdatePermissions', { permissions: rules }, ({ request }, { services }) =>
  services.sandboxes.updatePermissions(request),
);
