import { define } from './define.ts';

export const getSession = define('GetSession', {}, ({ request }, { services }) =>
  services.sessions.get(request.session_id),
);
