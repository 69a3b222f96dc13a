import { define, plainName, secretName } from './define.ts';

export const deleteSecret = define(
  'DeleteSecret',
  { name: { required: true, ...secretName }, owner_id: plainName },
  async ({ request }, { services }) => {
    await services.secrets.remove(request);
    return {};
  },
);
