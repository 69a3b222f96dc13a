import { define, newSession } from './define.ts';

export const createSession = define('CreateSession', newSession, ({ request }, { services, signal }) =>
  services.sessions.create(request, signal),
);
