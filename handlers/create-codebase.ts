import { define, plainName } from './define.ts';

export const createCodebase = define(
  'CreateCodebase',
  { name: { required: true, ...plainName }, owner_id: plainName },
  ({ request }, { services, intent }) => services.codebases.create({ ...request, intent }),
);
