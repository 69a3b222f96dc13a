import { define, string } from './define.ts';

export const explainPermission = define({ sandbox_id: string, path: string }, ({ request }, { services }) =>
  services.sandboxes.explainPermission(request.sandbox_id, request.path),
);
