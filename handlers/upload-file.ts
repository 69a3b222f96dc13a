import { defineUpload, permissionBits } from './define.ts';

/** Stores one file, visible after the end of its content; an error of the content stores nothing. */
export const uploadFile = defineUpload(
  'UploadFile',
  { ...permissionBits, file_path: { format: 'file-path' } },
  ({ codebase_id, file_path, mode, symlink_target }, content, { services }) =>
    services.codebases.upload(codebase_id, file_path, content, {
      ...(mode !== 0 && { mode }),
      ...(symlink_target !== '' && { symlinkTarget: symlink_target }),
    }),
);
