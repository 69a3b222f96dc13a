import { bool, define, fileRequest, pageSize, string } from './define.ts';

export const listDirectory = define(
  { ...fileRequest, recursive: bool, page_size: pageSize, page_token: string },
  ({ request }, { services }) => services.sandboxes.listDirectory(request),
);
