import { define, pageSize, string } from './define.ts';

export const listChanges = define(
  { sandbox_id: string, page_size: pageSize, page_token: string },
  ({ request }, { services }) => {
    const { sandbox_id, ...page } = request;
    return services.sandboxes.listChanges(sandbox_id, page);
  },
);
