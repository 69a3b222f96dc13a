import { define, page } from './define.ts';

export const listChanges = define('ListChanges', page, ({ request }, { services }) => {
  const { sandbox_id, ...rest } = request;
  return services.sandboxes.listChanges(sandbox_id, rest);
});
