import { ROLES, SCOPES } from '../lib/access/principal.ts';
import { define, lifetime, plainName } from './define.ts';

export const createKey = define(
  'CreateKey',
  {
    name: { required: true, ...plainName },
    role: { required: true, values: ROLES },
    owner_id: plainName,
    // Without a maximum, keys with repeated scopes could fill the metadata.
    scopes: { maxItems: SCOPES.length, items: { minLength: 1, values: SCOPES } },
    expires_in: lifetime,
  },
  ({ request }, { services, guard, intent }) => services.keys.create({ ...request, intent }, guard.principal.key_id),
);
