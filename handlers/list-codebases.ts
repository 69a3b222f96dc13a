import { define, pageSize, string } from './define.ts';

export const listCodebases = define(
  { owner_id: string, page_size: pageSize, page_token: string },
  ({ request }, { services }) => services.codebases.list(request),
);
