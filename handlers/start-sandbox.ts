import { define } from './define.ts';

export const startSandbox = define('StartSandbox', {}, ({ request }, { services }) =>
  services.sandboxes.start(request.sandbox_id),
);
