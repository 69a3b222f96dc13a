import { define, page, plainName } from './define.ts';

export const listSecrets = define('ListSecrets', { ...page, owner_id: plainName }, ({ request }, { services }) =>
  services.secrets.list(request),
);
