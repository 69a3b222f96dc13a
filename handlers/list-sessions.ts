import { define, page } from './define.ts';

export const listSessions = define('ListSessions', page, ({ request }, { services }) =>
  services.sessions.list(request),
);
