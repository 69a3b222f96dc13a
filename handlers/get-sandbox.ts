import { actor, define } from './define.ts';

export const getSandbox = define('GetSandbox', actor, ({ request }, { services }) =>
  services.sandboxes.get(request.sandbox_id, request.as),
);
