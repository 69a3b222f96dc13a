import { define, sandboxId } from './define.ts';

export const startSandbox = define(sandboxId, ({ request }, { services }) =>
  services.sandboxes.start(request.sandbox_id),
);
