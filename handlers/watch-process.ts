import { define, offset } from './define.ts';

/** It has started when this resolves, so that a refusal is sent as a status. */
export const watchProcess = define('WatchProcess', { offset }, ({ request }, { services, signal }) =>
  services.processes.watch(request, signal),
);
