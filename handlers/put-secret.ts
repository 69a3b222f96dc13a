import { define, plainName, secretFields, secretName } from './define.ts';

export const putSecret = define(
  'PutSecret',
  { name: { required: true, ...secretName }, owner_id: plainName, ...secretFields },
  ({ request }, { services }) => services.secrets.put(request),
);
