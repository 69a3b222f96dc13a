import { define, httpMethod, httpPath, networkHost, port } from './define.ts';

export const explainNetwork = define(
  'ExplainNetwork',
  {
    host: { ...networkHost, required: true },
    port: { ...port, orZero: true, default: 443 },
    method: httpMethod,
    path: httpPath,
  },
  ({ request }, { services }) => services.networks.explain(request),
);
