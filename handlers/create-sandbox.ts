import { withShownWarnings } from '../lib/access/shown-warnings.ts';
import { MAX_IMAGE_LENGTH } from '../lib/image-reference.ts';
import { define, newSandbox } from './define.ts';

export const createSandbox = define(
  'CreateSandbox',
  {
    ...newSandbox,
    codebase_id: { required: true },
    // The daemon gets the reference unchanged, so it must not be parsable as an option or a header.
    image: {
      maxLength: MAX_IMAGE_LENGTH,
      pattern: { source: '\\w[\\w.:/@-]*', problem: 'must be a container image reference like ubuntu:22.04' },
    },
  },
  async ({ request }, { services, intent, guard }) =>
    withShownWarnings(guard.principal, await services.sandboxes.create({ ...request, intent })),
);
