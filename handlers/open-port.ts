import { PORT_ACCESS } from '../lib/field-values.ts';
import { define, lifetime, portNumber } from './define.ts';

export const openPort = define(
  'OpenPort',
  { ...portNumber, access: { values: PORT_ACCESS }, expires_in: lifetime },
  ({ request }, { services }) => services.ports.open(request),
);
