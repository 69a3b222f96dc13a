import { defineUpload, permissionBits } from './define.ts';

/** Stores one file. The file appears when the content has ended; when it throws, nothing is stored. */
export const uploadFile = defineUpload(
  'UploadFile',
  { ...permissionBits, file_path: { format: 'file-path' } },
  ({ codebase_id, file_path, mode }, content, { services }) =>
    services.codebases.upload(codebase_id, file_path, content, mode === 0 ? {} : { mode }),
);
