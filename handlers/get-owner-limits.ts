import { define, plainName } from './define.ts';

export const getOwnerLimits = define(
  'GetOwnerLimits',
  { owner_id: { required: true, ...plainName } },
  ({ request }, { services }) => services.owners.get(request.owner_id),
);
