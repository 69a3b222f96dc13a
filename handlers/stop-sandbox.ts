import { define, sandboxId } from './define.ts';

export const stopSandbox = define(sandboxId, ({ request }, { services }) =>
  services.sandboxes.stop(request.sandbox_id),
);
