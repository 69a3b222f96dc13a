import { define, rules, shortRules } from './define.ts';

export const updatePermissions = define(
  'UpdatePermissions',
  { permissions: rules, rules: shortRules },
  ({ request }, { services }) => services.sandboxes.updatePermissions(request),
);
