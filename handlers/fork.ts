import { withShownWarnings } from '../lib/access/shown-warnings.ts';
import { define, newSandbox } from './define.ts';

export const fork = define(
  'Fork',
  { ...newSandbox, count: { minimum: 0, maximum: 100, default: 1 } },
  async ({ request }, { services, intent, guard }) => {
    const results = await services.sandboxes.fork({ ...request, intent });
    const shown = results.map((each) =>
      each.sandbox ? { ...each, sandbox: withShownWarnings(guard.principal, each.sandbox) } : each,
    );
    return { results: shown };
  },
);
