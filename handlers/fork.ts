import { define, newSandbox } from './define.ts';

export const fork = define(
  'Fork',
  { ...newSandbox, count: { minimum: 0, maximum: 100, default: 1 } },
  async ({ request }, { services, intent }) => ({ results: await services.sandboxes.fork({ ...request, intent }) }),
);
