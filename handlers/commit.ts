import { CONFLICT_CHOICES } from '../lib/field-values.ts';
import { MAX_PATHS } from '../lib/path-limits.ts';
import { define } from './define.ts';

export const commit = define(
  'Commit',
  {
    paths: { maxItems: MAX_PATHS, items: { minLength: 1, format: 'directory-path' } },
    on_conflict: { values: CONFLICT_CHOICES },
  },
  ({ request }, { services, intent }) => services.sandboxes.commit({ ...request, intent }),
);
