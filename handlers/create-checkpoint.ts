import { define, string } from './define.ts';

export const createCheckpoint = define({ sandbox_id: string, name: string }, ({ request }, { services }) =>
  services.sandboxes.createCheckpoint(request.sandbox_id, request.name),
);
