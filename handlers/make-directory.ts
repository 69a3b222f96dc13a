import { bool, define, fileMode, fileRequest } from './define.ts';

export const makeDirectory = define({ ...fileRequest, mode: fileMode, parents: bool }, ({ request }, { services }) =>
  services.sandboxes.makeDirectory(request),
);
