import { define } from './define.ts';

const MAX_PORT = 65_535;
const MAX_WAIT_MS = 600_000;

export const waitPort = define(
  'WaitPort',
  { port: { minimum: 0, maximum: MAX_PORT }, wait: { minimum: 0, maximum: MAX_WAIT_MS, unit: 'milliseconds' } },
  ({ request }, { services, signal }) => services.processes.waitPort(request, signal),
);
