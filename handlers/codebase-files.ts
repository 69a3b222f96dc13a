import { IMPORT_MODES } from '../lib/field-values.ts';
import {
  archive,
  CONTENT,
  type Download,
  define,
  defineUpload,
  download,
  type Export,
  exported,
  page,
  permissionBits,
} from './define.ts';

/** Stores one file, visible after the end of its content; an error of the content stores nothing. */
export const uploadFile = defineUpload(
  {
    rpc: 'UploadFile',
    route: 'POST /v1/codebases/{codebase_id}/files',
    kind: 'multipart',
    also: [
      {
        route: 'PUT /v1/codebases/{codebase_id}/files/{file_path+}',
        kind: 'raw',
        example: { path: { file_path: 'src/main.py' }, file: 'main.py' },
      },
    ],
    access: { role: 'owner', scope: 'files:write', on: 'codebase' },
    retry: 'same',
    counts: ['stream'],
    maxBody: CONTENT,
    example: { form: { path: 'src/main.py', file: '@main.py' } },
    constraints: { ...permissionBits, file_path: { format: 'file-path' } },
  },
  ({ codebase_id, file_path, mode, symlink_target }, content, { services }) =>
    services.codebases.upload(codebase_id, file_path, content, {
      ...(mode !== 0 && { mode }),
      ...(symlink_target !== '' && { symlinkTarget: symlink_target }),
    }),
);

export const downloadFile = define(
  {
    rpc: 'DownloadFile',
    route: 'GET /v1/codebases/{codebase_id}/files/{file_path+}',
    kind: 'download',
    also: [{ route: 'HEAD /v1/codebases/{codebase_id}/files/{file_path+}', kind: 'download' }],
    access: { role: 'owner', scope: 'files:read', on: 'codebase' },
    retry: 'read',
    counts: ['stream'],
    example: { path: { file_path: 'src/main.py' } },
    constraints: { file_path: { format: 'file-path' } },
  },
  async ({ request }, { services }): Promise<Download> =>
    download(await services.codebases.open(request.codebase_id, request.file_path)),
);

export const listFiles = define(
  {
    rpc: 'ListFiles',
    route: 'GET /v1/codebases/{codebase_id}/files',
    access: { role: 'owner', scope: 'files:read', on: 'codebase' },
    retry: 'read',
    counts: ['list'],
    example: { query: { recursive: true } },
    constraints: { ...page, path: { format: 'directory-path' } },
  },
  ({ request }, { services }) => {
    const { codebase_id, ...rest } = request;
    return services.codebases.listFiles(codebase_id, rest);
  },
);

export const removeFile = define(
  {
    rpc: 'RemoveFile',
    route: 'DELETE /v1/codebases/{codebase_id}/files/{file_path+}',
    access: { role: 'owner', scope: 'files:write', on: 'codebase' },
    retry: 'same',
    example: { path: { file_path: 'src/main.py' } },
    constraints: { file_path: { format: 'file-path' } },
  },
  async ({ request }, { services }) => {
    await services.codebases.removeFile(request.codebase_id, request.file_path);
    return {};
  },
);

/** Imports an archive at the end of its content, all or nothing; an error of the content changes nothing. */
export const importCodebaseFiles = defineUpload(
  {
    rpc: 'ImportCodebaseFiles',
    route: 'PUT /v1/codebases/{codebase_id}/files',
    kind: 'raw',
    access: { role: 'owner', scope: 'files:write', on: 'codebase' },
    retry: 'same',
    counts: ['stream'],
    maxBody: CONTENT,
    example: { query: { format: 'tar' }, file: 'files.tar' },
    constraints: { ...archive, mode: { values: IMPORT_MODES } },
  },
  ({ codebase_id, mode, if_revision }, content, { services }) =>
    services.codebases.importArchive(codebase_id, mode || 'merge', content, if_revision),
);

export const exportCodebaseFiles = define(
  {
    rpc: 'ExportCodebaseFiles',
    route: 'GET /v1/codebases/{codebase_id}/files?format',
    kind: 'bytes',
    access: { role: 'owner', scope: 'files:read', on: 'codebase' },
    retry: 'read',
    counts: ['stream'],
    example: { query: { format: 'tar' }, curl: '-o codebase.tar' },
    constraints: { ...archive, path: { format: 'directory-path' } },
  },
  async ({ request }, { services }): Promise<Export> =>
    exported(await services.codebases.exportArchive(request.codebase_id, request.path)),
);
