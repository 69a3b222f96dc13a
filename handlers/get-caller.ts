import { define } from './define.ts';

export const getCaller = define('GetCaller', {}, (_input, { services, guard }) =>
  services.keys.describe(guard.principal),
);
