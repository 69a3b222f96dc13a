import { bool, define, string } from './define.ts';

export const moveFile = define(
  { sandbox_id: string, as: string, from: string, to: string, replace: bool },
  ({ request }, { services }) => services.sandboxes.moveFile(request),
);
