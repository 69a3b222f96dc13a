import { define } from './define.ts';

export const getCodebase = define('GetCodebase', {}, ({ request }, { services }) =>
  services.codebases.get(request.codebase_id),
);
