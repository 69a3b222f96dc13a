import { define } from './define.ts';

export const getSandbox = define('GetSandbox', {}, ({ request }, { services }) =>
  services.sandboxes.get(request.sandbox_id),
);
