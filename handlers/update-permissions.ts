import { define } from './define.ts';

export const updatePermissions = define('UpdatePermissions', {}, ({ request }, { services }) =>
  services.sandboxes.updatePermissions(request),
);
