import { SIGNALS } from '../lib/linux/signals.ts';
import { defineAttach, offset, terminalSize } from './define.ts';

/** It has started when this resolves, so that a refusal is sent as a status. */
export const attachProcess = defineAttach(
  'AttachProcess',
  { process_id: { required: true }, offset, signal: { values: SIGNALS }, resize: terminalSize },
  (request, input, { services }) => services.processes.attach(request, input),
);
