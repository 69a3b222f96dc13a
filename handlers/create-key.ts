import { ROLES, SCOPES } from '../lib/access/principal.ts';
import { define, plainName } from './define.ts';

export const createKey = define(
  'CreateKey',
  {
    name: { required: true, ...plainName },
    role: { required: true, values: ROLES },
    owner_id: plainName,
    scopes: { items: { minLength: 1, values: SCOPES } },
    /** At most ten years. */
    expires_in: { minimum: 0, maximum: 315_360_000, unit: 'seconds' },
  },
  ({ request }, { services, guard }) => services.keys.create(request, guard.principal.key_id),
);
