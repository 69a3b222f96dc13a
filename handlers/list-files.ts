import { define, page } from './define.ts';

export const listFiles = define(
  'ListFiles',
  { ...page, path: { format: 'directory-path' } },
  ({ request }, { services }) => {
    const { codebase_id, ...rest } = request;
    return services.codebases.listFiles(codebase_id, rest);
  },
);
