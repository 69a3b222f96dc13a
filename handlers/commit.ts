import { bool, define, repeated, string } from './define.ts';

export const commit = define(
  { sandbox_id: string, paths: repeated(string), on_conflict: string, dry_run: bool },
  ({ request }, { services }) => services.sandboxes.commit(request),
);
