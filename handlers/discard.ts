import { define } from './define.ts';

export const discard = define(
  'Discard',
  { paths: { items: { format: 'directory-path' } } },
  ({ request }, { services }) => services.sandboxes.discard(request.sandbox_id, request.paths),
);
