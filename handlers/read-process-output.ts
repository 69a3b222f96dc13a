import { define, offset } from './define.ts';

/** Bytes of one answer. */
const MAX_BYTES = 1_048_576;
const MAX_WAIT_MS = 60_000;

export const readProcessOutput = define(
  'ReadProcessOutput',
  {
    offset,
    max_bytes: { minimum: 0, maximum: MAX_BYTES, unit: 'bytes' },
    wait: { minimum: 0, maximum: MAX_WAIT_MS, unit: 'milliseconds' },
  },
  ({ request }, { services, signal }) => services.processes.read(request, signal),
);
