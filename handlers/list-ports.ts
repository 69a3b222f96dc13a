import { define } from './define.ts';

export const listPorts = define('ListPorts', {}, ({ request }, { services, signal }) =>
  services.ports.list(request, signal),
);
