import { define, page } from './define.ts';

export const listSandboxes = define('ListSandboxes', page, ({ request }, { services }) =>
  services.sandboxes.list(request),
);
