import { define, labels, page } from './define.ts';

export const listSandboxes = define('ListSandboxes', { ...page, labels }, ({ request }, { services }) =>
  services.sandboxes.list(request),
);
