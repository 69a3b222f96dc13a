import { define } from './define.ts';

export const stopSandbox = define('StopSandbox', {}, ({ request }, { services }) =>
  services.sandboxes.stop(request.sandbox_id),
);
