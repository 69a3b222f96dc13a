import { define, networkPolicy } from './define.ts';

export const updateNetwork = define(
  'UpdateNetwork',
  { ...networkPolicy, mode: { ...networkPolicy.mode, required: true } },
  ({ request }, { services }) => services.networks.update(request),
);
