import { define } from './define.ts';

export const destroySession = define('DestroySession', {}, async ({ request }, { services }) => {
  await services.sessions.destroy(request.session_id);
  return {};
});
