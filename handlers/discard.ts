import { define, repeated, string } from './define.ts';

export const discard = define({ sandbox_id: string, paths: repeated(string) }, ({ request }, { services }) =>
  services.sandboxes.discard(request.sandbox_id, request.paths),
);
