import { actor, define, page } from './define.ts';

export const listChanges = define('ListChanges', { ...actor, ...page }, ({ request }, { services }) => {
  const { sandbox_id, as, ...rest } = request;
  return services.sandboxes.listChanges(sandbox_id, rest, as);
});
