import { define, plainName, secretName } from './define.ts';

export const getSecret = define(
  'GetSecret',
  { name: { required: true, ...secretName }, owner_id: plainName },
  ({ request }, { services }) => services.secrets.get(request),
);
