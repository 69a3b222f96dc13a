import { withShownWarnings } from '../lib/access/shown-warnings.ts';
import { define, rules, shortRules } from './define.ts';

export const updatePermissions = define(
  'UpdatePermissions',
  { permissions: rules, rules: shortRules },
  async ({ request }, { services, guard }) =>
    withShownWarnings(guard.principal, await services.sandboxes.updatePermissions(request)),
);
