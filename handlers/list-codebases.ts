import { define, page } from './define.ts';

export const listCodebases = define('ListCodebases', page, ({ request }, { services }) =>
  services.codebases.list(request),
);
