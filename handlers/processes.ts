import { SIGNALS } from '../lib/linux/signals.ts';
import type { NewProcess } from '../lib/process-services.ts';
import {
  CONTENT,
  define,
  defineAttach,
  defineUpload,
  LISTS,
  labels,
  newProcess,
  offset,
  page,
  terminalSize,
} from './define.ts';

const side = { minimum: 1, maximum: 1000 } as const;
/** Bytes of one answer. */
const MAX_BYTES = 1_048_576;
const MAX_WAIT_MS = 60_000;

export const startProcess = define(
  {
    rpc: 'StartProcess',
    route: 'POST /v1/sandboxes/{sandbox_id}/processes',
    access: { role: 'agent', scope: 'exec', on: 'sandbox' },
    retry: 'again',
    counts: ['command'],
    maxBody: LISTS,
    example: { body: { command: 'while read line; do echo "got $line"; done', terminal: { columns: 80, rows: 24 } } },
    constraints: newProcess,
  },
  ({ request }, { services, signal, guard }) => {
    const start: NewProcess = { ...request, terminal: request.terminal };
    return services.processes.start(start, signal, () => guard.keepCommand());
  },
);

export const getProcess = define(
  {
    rpc: 'GetProcess',
    route: 'GET /v1/sandboxes/{sandbox_id}/processes/{process_id}',
    access: { role: 'agent', scope: 'exec', on: 'sandbox' },
    retry: 'read',
  },
  ({ request }, { services }) => services.processes.get(request.sandbox_id, request.process_id),
);

export const listProcesses = define(
  {
    rpc: 'ListProcesses',
    route: 'GET /v1/sandboxes/{sandbox_id}/processes',
    access: { role: 'agent', scope: 'exec', on: 'sandbox' },
    retry: 'read',
    counts: ['list'],
    maxBody: LISTS,
    constraints: { ...page, labels },
  },
  ({ request }, { services }) => services.processes.list(request),
);

export const deleteProcess = define(
  {
    rpc: 'DeleteProcess',
    route: 'DELETE /v1/sandboxes/{sandbox_id}/processes/{process_id}',
    access: { role: 'agent', scope: 'exec', on: 'sandbox' },
    retry: 'same',
  },
  async ({ request }, { services }) => {
    await services.processes.delete(request.sandbox_id, request.process_id);
    return {};
  },
);

export const signalProcess = define(
  {
    rpc: 'SignalProcess',
    route: 'POST /v1/sandboxes/{sandbox_id}/processes/{process_id}/signal',
    access: { role: 'agent', scope: 'exec', on: 'sandbox' },
    retry: 'again',
    example: { body: { signal: 'SIGTERM' } },
    constraints: { signal: { required: true, values: SIGNALS } },
  },
  ({ request: { sandbox_id, process_id, signal } }, { services }) =>
    services.processes.signal(sandbox_id, process_id, signal),
);

export const resizeTerminal = define(
  {
    rpc: 'ResizeTerminal',
    route: 'POST /v1/sandboxes/{sandbox_id}/processes/{process_id}/resize',
    access: { role: 'agent', scope: 'exec', on: 'sandbox' },
    retry: 'same',
    example: { body: { columns: 100, rows: 30 } },
    constraints: { columns: side, rows: side },
  },
  async ({ request: { sandbox_id, process_id, columns, rows } }, { services }) => {
    await services.processes.resize(sandbox_id, process_id, { columns, rows });
    return {};
  },
);

export const readProcessOutput = define(
  {
    rpc: 'ReadProcessOutput',
    route: 'GET /v1/sandboxes/{sandbox_id}/processes/{process_id}/output',
    access: { role: 'agent', scope: 'exec', on: 'sandbox' },
    retry: 'read',
    counts: ['stream'],
    example: { query: { offset: 0, wait: 1000 } },
    constraints: {
      offset,
      max_bytes: { minimum: 0, maximum: MAX_BYTES, unit: 'bytes' },
      wait: { minimum: 0, maximum: MAX_WAIT_MS, unit: 'milliseconds' },
    },
  },
  ({ request }, { services, signal }) => services.processes.read(request, signal),
);

/** It has started when this resolves, so that a refusal is sent as a status. */
export const watchProcess = define(
  {
    rpc: 'WatchProcess',
    route: 'GET /v1/sandboxes/{sandbox_id}/processes/{process_id}/events',
    kind: 'events',
    cursor: { from: 'offset', id: 'next', end: 'end' },
    access: { role: 'agent', scope: 'exec', on: 'sandbox' },
    retry: 'read',
    counts: ['stream'],
    example: { query: { offset: 0 }, curl: "-N -H 'accept: text/event-stream'" },
    constraints: { offset },
  },
  ({ request }, { services, signal }) => services.processes.watch(request, signal),
);

/** Takes the input as it arrives: what was taken before an error stays taken. */
export const writeProcessInput = defineUpload(
  {
    rpc: 'WriteProcessInput',
    route: 'POST /v1/sandboxes/{sandbox_id}/processes/{process_id}/input',
    kind: 'raw',
    access: { role: 'agent', scope: 'exec', on: 'sandbox' },
    retry: 'again',
    counts: ['stream'],
    maxBody: CONTENT,
    example: { file: 'input.txt' },
    constraints: { process_id: { required: true }, offset },
  },
  (request, content, { services, signal }) => services.processes.write(request, content, signal),
);

/** It has started when this resolves, so that a refusal is sent as a status. */
export const attachProcess = defineAttach(
  {
    rpc: 'AttachProcess',
    route: 'GET /v1/sandboxes/{sandbox_id}/processes/{process_id}/attach',
    access: { role: 'agent', scope: 'exec', on: 'sandbox' },
    retry: 'again',
    counts: ['stream'],
    maxBody: CONTENT,
    example: {
      query: { offset: 0 },
      curl: "-N -m 3 -o - -H 'connection: upgrade' -H 'upgrade: websocket' -H 'sec-websocket-version: 13' -H 'sec-websocket-key: cGFkZG9jayBpcyBoZXJlIQ=='",
    },
    constraints: { process_id: { required: true }, offset, signal: { values: SIGNALS }, resize: terminalSize },
  },
  (request, input, { services }) => services.processes.attach(request, input),
);
