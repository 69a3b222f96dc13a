import { define } from './define.ts';

export const createCheckpoint = define(
  'CreateCheckpoint',
  {
    name: {
      required: true,
      pattern: { source: '[\\w.\\-]{1,128}', problem: 'must have 1 to 128 letters, digits, ".", "_" or "-"' },
    },
  },
  ({ request }, { services, intent }) => services.sandboxes.createCheckpoint(request.sandbox_id, request.name, intent),
);
