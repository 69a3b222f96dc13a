import { define } from './define.ts';

export const revokeKey = define('RevokeKey', { key_id: { required: true } }, async ({ request }, { services }) => {
  await services.keys.revoke(request.key_id);
  return {};
});
