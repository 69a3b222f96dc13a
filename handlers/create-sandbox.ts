import { withShownWarnings } from '../lib/access/shown-warnings.ts';
import { MAX_IMAGE_LENGTH } from '../lib/image-reference.ts';
import { define, LISTS, newSandbox } from './define.ts';
import { hostPath } from './input/shared-constraints.ts';

export const createSandbox = define(
  {
    rpc: 'CreateSandbox',
    route: 'POST /v1/sandboxes',
    access: { role: 'owner', scope: 'sandboxes:write', on: 'codebase' },
    retry: 'key',
    counts: ['create'],
    maxBody: LISTS,
    example: { body: { codebase_id: '$CODEBASE', rules: { write: ['**'], read: ['LICENSE'], none: ['**/.env*'] } } },
    constraints: {
      ...newSandbox,
      codebase_id: { required: true },
      read_only_paths: { maxItems: 32, maxBytes: 4096, items: { ...hostPath, minLength: 1 } },
      workspace_path: hostPath,
      // The daemon gets the reference unchanged, so it must not be parsable as an option or a header.
      image: {
        maxLength: MAX_IMAGE_LENGTH,
        pattern: { source: '\\w[\\w.:/@-]*', problem: 'must be a container image reference like ubuntu:22.04' },
      },
    },
  },
  async ({ request }, { services, intent, guard }) =>
    withShownWarnings(guard.principal, await services.sandboxes.create({ ...request, intent })),
);
