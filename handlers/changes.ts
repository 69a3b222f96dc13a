import { CHANGE_FORMATS, CONFLICT_CHOICES } from '../lib/field-values.ts';
import { actor, changeChoice, chosenHunks, define, type Export, exported, LISTS, page } from './define.ts';

export const listChanges = define(
  {
    rpc: 'ListChanges',
    route: 'GET /v1/sandboxes/{sandbox_id}/changes',
    access: { role: 'agent', scope: 'files:read', on: 'sandbox' },
    retry: 'read',
    counts: ['list'],
    maxBody: LISTS,
    example: { query: { page_size: 50 } },
    constraints: { ...actor, ...page, ...changeChoice },
  },
  ({ request }, { services }) => {
    const { sandbox_id, as, page_size, page_token, ...choice } = request;
    return services.sandboxes.listChanges(sandbox_id, { page_size, page_token }, as, choice);
  },
);

export const exportChanges = define(
  {
    rpc: 'ExportChanges',
    route: 'GET /v1/sandboxes/{sandbox_id}/changes?format',
    kind: 'bytes',
    access: { role: 'agent', scope: 'files:read', on: 'sandbox' },
    retry: 'read',
    counts: ['stream'],
    maxBody: LISTS,
    example: { query: { format: 'patch' } },
    constraints: { ...actor, ...changeChoice, format: { required: true, values: CHANGE_FORMATS } },
  },
  async ({ request }, { services, signal }): Promise<Export> => {
    const { sandbox_id, format, as, ...choice } = request;
    return exported(await services.sandboxes.exportChanges(sandbox_id, format, as, choice, signal));
  },
);

export const commit = define(
  {
    rpc: 'Commit',
    route: 'POST /v1/sandboxes/{sandbox_id}/commit',
    access: { role: 'owner', scope: 'changes:commit', on: 'sandbox' },
    retry: 'key',
    maxBody: LISTS,
    example: { body: { paths: ['src'], dry_run: true } },
    constraints: {
      ...changeChoice,
      hunks: chosenHunks,
      on_conflict: { values: CONFLICT_CHOICES },
    },
  },
  ({ request }, { services, intent }) => services.sandboxes.commit({ ...request, intent }),
);

export const discard = define(
  {
    rpc: 'Discard',
    route: 'POST /v1/sandboxes/{sandbox_id}/discard',
    access: { role: 'owner', scope: 'files:write', on: 'sandbox' },
    retry: 'again',
    maxBody: LISTS,
    example: { body: { paths: ['src'] } },
    constraints: changeChoice,
  },
  ({ request }, { services }) => {
    const { sandbox_id, paths, ...choice } = request;
    return services.sandboxes.discard(sandbox_id, paths, choice);
  },
);
