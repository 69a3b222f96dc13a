import { define, page, plainName } from './define.ts';

export const createCodebase = define(
  {
    rpc: 'CreateCodebase',
    route: 'POST /v1/codebases',
    access: { role: 'owner', scope: 'codebases:write', on: 'owner' },
    retry: 'key',
    counts: ['create'],
    example: { body: { name: 'hello', owner_id: 'ann' } },
    constraints: { name: { required: true, ...plainName }, owner_id: plainName },
  },
  ({ request }, { services, intent }) => services.codebases.create({ ...request, intent }),
);

export const getCodebase = define(
  {
    rpc: 'GetCodebase',
    route: 'GET /v1/codebases/{codebase_id}',
    access: { role: 'owner', scope: 'codebases:read', on: 'codebase' },
    retry: 'read',
  },
  ({ request }, { services }) => services.codebases.get(request.codebase_id),
);

export const listCodebases = define(
  {
    rpc: 'ListCodebases',
    route: 'GET /v1/codebases',
    access: { role: 'owner', scope: 'codebases:read', on: 'owner' },
    retry: 'read',
    counts: ['list'],
    example: { query: { owner_id: 'ann' } },
    constraints: page,
  },
  ({ request }, { services }) => services.codebases.list(request),
);

export const deleteCodebase = define(
  {
    rpc: 'DeleteCodebase',
    route: 'DELETE /v1/codebases/{codebase_id}',
    access: { role: 'owner', scope: 'codebases:write', on: 'codebase' },
    retry: 'same',
  },
  async ({ request }, { services }) => {
    await services.codebases.delete(request.codebase_id);
    return {};
  },
);
