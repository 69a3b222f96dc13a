import { bool, define, pageSize, string } from './define.ts';

const listFilesRequest = {
  codebase_id: string,
  path: string,
  recursive: bool,
  page_size: pageSize,
  page_token: string,
};

export const listFiles = define(listFilesRequest, ({ request }, { services }) => {
  const { codebase_id, ...what } = request;
  return services.codebases.listFiles(codebase_id, what);
});
