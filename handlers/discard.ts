import { MAX_PATHS } from '../lib/path-limits.ts';
import { define } from './define.ts';

export const discard = define(
  'Discard',
  { paths: { maxItems: MAX_PATHS, items: { minLength: 1, format: 'directory-path' } } },
  ({ request }, { services }) => services.sandboxes.discard(request.sandbox_id, request.paths),
);
