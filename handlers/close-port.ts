import { define, portNumber } from './define.ts';

export const closePort = define('ClosePort', portNumber, async ({ request }, { services }) => {
  await services.ports.close(request.sandbox_id, request.port);
  return {};
});
