import { codebaseId, define } from './define.ts';

export const getCodebase = define(codebaseId, ({ request }, { services }) =>
  services.codebases.get(request.codebase_id),
);
