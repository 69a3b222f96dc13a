import { define, portNumber } from './define.ts';

export const getPort = define('GetPort', portNumber, ({ request }, { services }) =>
  services.ports.get(request.sandbox_id, request.port),
);
