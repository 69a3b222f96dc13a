import { define, page } from './define.ts';

export const listConnections = define('ListConnections', page, ({ request }, { services }) =>
  services.networks.connections(request),
);
