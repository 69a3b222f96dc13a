import {
  actor,
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

export const previewFile = define(
  {
    rpc: 'PreviewFile',
    route: 'GET /v1/sandboxes/{sandbox_id}/preview',
    access: { role: 'owner', scope: 'files:read', on: 'sandbox' },
    retry: 'read',
    counts: ['list'],
    example: { query: { path: 'src/main.py' } },
    constraints: { path: { format: 'file-path' } },
  },
  ({ request }, { services }) => services.sandboxes.previewFile(request),
);

export const statFile = define(
  {
    rpc: 'StatFile',
    route: 'GET /v1/sandboxes/{sandbox_id}/stat',
    access: { role: 'agent', scope: 'files:read', on: 'sandbox' },
    retry: 'read',
    example: { query: { path: 'src/main.py' } },
    constraints: { ...actor, path: { format: 'directory-path' } },
  },
  ({ request }, { services }) => services.sandboxes.statFile(request),
);

export const listDirectory = define(
  {
    rpc: 'ListDirectory',
    route: 'GET /v1/sandboxes/{sandbox_id}/files',
    access: { role: 'agent', scope: 'files:read', on: 'sandbox' },
    retry: 'read',
    counts: ['list'],
    example: { query: { path: 'src', recursive: true } },
    constraints: { ...actor, ...page, path: { format: 'directory-path' } },
  },
  ({ request }, { services }) => services.sandboxes.listDirectory(request),
);

export const readFile = define(
  {
    rpc: 'ReadFile',
    route: 'GET /v1/sandboxes/{sandbox_id}/files/{path+}',
    kind: 'download',
    also: [{ route: 'HEAD /v1/sandboxes/{sandbox_id}/files/{path+}', kind: 'download' }],
    access: { role: 'agent', scope: 'files:read', on: 'sandbox' },
    retry: 'read',
    counts: ['stream'],
    example: { path: { path: 'src/main.py' } },
    constraints: { ...actor, path: { format: 'file-path' } },
  },
  async ({ request }, { services }): Promise<Download> => download(await services.sandboxes.readFile(request)),
);

/** Writes one file, visible after the end of its content; an error of the content changes nothing. */
export const writeFile = defineUpload(
  {
    rpc: 'WriteFile',
    route: 'PUT /v1/sandboxes/{sandbox_id}/files/{path+}',
    kind: 'raw',
    access: { role: 'agent', scope: 'files:write', on: 'sandbox' },
    retry: 'same',
    counts: ['stream'],
    maxBody: CONTENT,
    example: { path: { path: 'src/new.py' }, file: 'main.py' },
    constraints: { ...actor, ...permissionBits, path: { format: 'file-path' } },
  },
  (request, content, { services }) => services.sandboxes.writeFile(request, content),
);

export const makeDirectory = define(
  {
    rpc: 'MakeDirectory',
    route: 'POST /v1/sandboxes/{sandbox_id}/mkdir',
    access: { role: 'agent', scope: 'files:write', on: 'sandbox' },
    retry: 'same',
    example: { body: { path: 'docs/notes', parents: true } },
    constraints: { ...actor, ...permissionBits, path: { format: 'file-path' } },
  },
  ({ request }, { services }) => services.sandboxes.makeDirectory(request),
);

export const moveFile = define(
  {
    rpc: 'MoveFile',
    route: 'POST /v1/sandboxes/{sandbox_id}/move',
    access: { role: 'agent', scope: 'files:write', on: 'sandbox' },
    retry: 'again',
    example: { body: { from: 'src/main.py', to: 'src/app.py' } },
    constraints: { ...actor, from: { format: 'file-path' }, to: { format: 'file-path' } },
  },
  ({ request }, { services }) => services.sandboxes.moveFile(request),
);

export const deleteFile = define(
  {
    rpc: 'DeleteFile',
    route: 'DELETE /v1/sandboxes/{sandbox_id}/files/{path+}',
    access: { role: 'agent', scope: 'files:write', on: 'sandbox' },
    retry: 'same',
    example: { path: { path: 'src/new.py' } },
    constraints: { ...actor, path: { format: 'file-path' } },
  },
  ({ request }, { services }) => services.sandboxes.deleteFile(request),
);

export const exportFiles = define(
  {
    rpc: 'ExportFiles',
    route: 'GET /v1/sandboxes/{sandbox_id}/files?format',
    kind: 'bytes',
    access: { role: 'agent', scope: 'files:read', on: 'sandbox' },
    retry: 'read',
    counts: ['stream'],
    example: { query: { format: 'tar', path: 'src' }, curl: '-o src.tar' },
    constraints: { ...actor, ...archive, path: { format: 'directory-path' } },
  },
  async ({ request }, { services }): Promise<Export> => exported(await services.sandboxes.exportFiles(request)),
);

/** Imports an archive at the end of its content, atomically; an error of the content changes nothing. */
export const importFiles = defineUpload(
  {
    rpc: 'ImportFiles',
    route: 'PUT /v1/sandboxes/{sandbox_id}/files',
    kind: 'raw',
    access: { role: 'agent', scope: 'files:write', on: 'sandbox' },
    retry: 'same',
    counts: ['stream'],
    maxBody: CONTENT,
    example: { query: { path: 'vendor', format: 'tar' }, file: 'files.tar' },
    constraints: { ...actor, ...archive, path: { format: 'directory-path' } },
  },
  (request, content, { services }) => services.sandboxes.importFiles(request, content),
);
