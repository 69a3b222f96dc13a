import { define } from './define.ts';

export const getNetwork = define('GetNetwork', {}, ({ request }, { services }) =>
  services.networks.get(request.sandbox_id),
);
