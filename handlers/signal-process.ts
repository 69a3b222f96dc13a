import { SIGNALS } from '../lib/linux/signals.ts';
import { define } from './define.ts';

export const signalProcess = define(
  'SignalProcess',
  { signal: { required: true, values: SIGNALS } },
  ({ request: { sandbox_id, process_id, signal } }, { services }) =>
    services.processes.signal(sandbox_id, process_id, signal),
);
