import { withShownWarnings } from '../lib/access/shown-warnings.ts';
import { MAX_IMAGE_LENGTH } from '../lib/image-reference.ts';
import { define, newSandbox } from './define.ts';
import { hostPath } from './input/shared-constraints.ts';

export const createSandbox = define(
  'CreateSandbox',
  {
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
  async ({ request }, { services, intent, guard }) =>
    withShownWarnings(guard.principal, await services.sandboxes.create({ ...request, intent })),
);
