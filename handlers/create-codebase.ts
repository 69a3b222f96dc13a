import { define } from './define.ts';

const noControl = { source: '[^\\p{Cc}\\p{Surrogate}]*', problem: 'must have no control characters' };

export const createCodebase = define(
  'CreateCodebase',
  {
    name: { required: true, maxLength: 255, pattern: noControl },
    owner_id: { maxLength: 255, pattern: noControl },
  },
  ({ request }, { services }) => services.codebases.create(request),
);
