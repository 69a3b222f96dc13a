import { define, pageSize, string } from './define.ts';

export const listSandboxes = define(
  { codebase_id: string, page_size: pageSize, page_token: string },
  ({ request }, { services }) => services.sandboxes.list(request),
);
