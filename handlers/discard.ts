import { changeChoice, define } from './define.ts';

export const discard = define('Discard', changeChoice, ({ request }, { services }) => {
  const { sandbox_id, paths, ...choice } = request;
  return services.sandboxes.discard(sandbox_id, paths, choice);
});
