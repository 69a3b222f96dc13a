import { define } from './define.ts';

export const createTicket = define(
  'CreateTicket',
  { path: { required: true, maxLength: 8192 } },
  ({ request }, { services, guard }) => services.keys.createTicket(request.path, guard.principal),
);
