import { actor, changeChoice, define, page } from './define.ts';

export const listChanges = define(
  'ListChanges',
  { ...actor, ...page, ...changeChoice },
  ({ request }, { services }) => {
    const { sandbox_id, as, page_size, page_token, ...choice } = request;
    return services.sandboxes.listChanges(sandbox_id, { page_size, page_token }, as, choice);
  },
);
