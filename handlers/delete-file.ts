import { bool, define, fileRequest } from './define.ts';

export const deleteFile = define({ ...fileRequest, recursive: bool }, ({ request }, { services }) =>
  services.sandboxes.deleteFile(request),
);
