import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import type { DeniedHost, ProcessEnd, ProcessEvent } from '../../../lib/contract/messages.ts';
import { ServiceError } from '../../../lib/errors.ts';
import { answerOf, CHANGES, type Place, type ToolAnswer, tool } from '../tool.ts';
import { OutputWindow } from './output-window.ts';

/** Clients give up after 60 s by default. */
const YIELD_SECONDS = 20;
/** Clients of HTTP give up after 300 s without an answer. */
const MAX_YIELD_SECONDS = 240;

/** Output above this is discarded; it is read no faster, so that a command with endless output does not keep the server busy. */
const DISCARDED_PER_PAUSE = 1024 * 1024;
const PAUSE_MS = 5;

export const processOutput = {
  output: z.string(),
  process_id: z.string(),
  running: z.boolean(),
  exit_code: z.int().optional(),
  end_reason: z.string().optional().describe('exited, signaled, timeout, out_of_memory, killed, …'),
  denied_hosts: z.array(z.string()).optional(),
};

export const exec = tool({
  name: 'exec',
  operation: 'StartProcess',
  description:
    'Run a shell command in /workspace. Each call is a new shell: directory and variables are not kept, as session_exec does. Output above 20 kB is cut in the middle; read the rest with process. A command that takes longer than yield_after goes on: wait for it, write to it or end it with process.',
  input: {
    command: z.string(),
    workdir: z.string().optional(),
    yield_after: z
      .number()
      .min(0)
      .max(MAX_YIELD_SECONDS)
      .optional()
      .describe(`Seconds until the call returns; the command goes on. By default ${YIELD_SECONDS}`),
    timeout: z.int().min(0).optional().describe('Seconds until the command is killed; by default never'),
    stdin: z.boolean().optional().describe('Keep standard input open for process'),
  },
  output: { ...processOutput, omitted_bytes: z.int().optional(), omitted_offset: z.int().optional() },
  hints: CHANGES,
  async run({ command, workdir = '', yield_after = YIELD_SECONDS, timeout = 0, stdin = false }, place: Place) {
    const { caller, sandbox_id } = place;
    const request = { sandbox_id, command, workdir, timeout, stdin, merge: true };
    const { process_id } = await caller.request('StartProcess', request);
    try {
      const window = new OutputWindow();
      const end = await follow(place, process_id, yield_after * 1000, window);
      // The start does not end when its client leaves.
      if (caller.signal.aborted) throw caller.signal.reason;
      return answerOfExec(process_id, end, window);
    } catch (error) {
      // The caller never received its id.
      await caller.takeBack('DeleteProcess', { sandbox_id, process_id });
      throw error;
    }
  },
});

/** Gathers the output until the process ends (and returns its end), or the time is over. */
async function follow(
  { caller, sandbox_id }: Place,
  process_id: string,
  milliseconds: number,
  window: OutputWindow,
): Promise<ProcessEnd | undefined> {
  const over = new ServiceError('CANCELLED', 'the time is over');
  const timer = new AbortController();
  const timeout = setTimeout(() => timer.abort(over), milliseconds);
  try {
    return await caller.use(
      'WatchProcess',
      { sandbox_id, process_id },
      (events: AsyncIterable<ProcessEvent>) => gather(events, window),
      { signal: timer.signal },
    );
  } catch (error) {
    if (error === over && !caller.signal.aborted) return undefined;
    throw error;
  } finally {
    clearTimeout(timeout);
  }
}

async function gather(events: AsyncIterable<ProcessEvent>, window: OutputWindow): Promise<ProcessEnd | undefined> {
  let since = 0;
  for await (const { data, gap, end } of events) {
    if (gap > 0) window.skip(gap);
    if (end !== undefined) return end;
    if (data === undefined || data.length === 0) continue;
    window.append(data);
    since += data.length;
    if (since < DISCARDED_PER_PAUSE) continue;
    since = 0;
    await delay(PAUSE_MS);
  }
  return undefined;
}

function answerOfExec(process_id: string, end: ProcessEnd | undefined, window: OutputWindow): ToolAnswer {
  const { before, after, omitted, from } = window.shown;
  const cut = omitted > 0 ? `${lineEnd(before)}[${omitted} bytes left out: process ${idAnd(process_id, from)}]\n` : '';
  const output = before + cut + after;
  return answerOf(`${output}${noteOf(process_id, end, output)}`, {
    output,
    process_id,
    ...endFields(end),
    ...(omitted > 0 && { omitted_bytes: omitted, omitted_offset: from }),
  });
}

const idAnd = (id: string, offset: number): string => JSON.stringify({ id, offset });

/** What is to be known of the process beside its output; nothing of one that has exited with 0. */
export function noteOf(process_id: string, end: ProcessEnd | undefined, output: string): string {
  if (end === undefined) return `${lineEnd(output)}[still running as process ${JSON.stringify(process_id)}]`;
  const { reason, exit_code, denied } = end;
  const refused =
    denied === undefined
      ? ''
      : `; refused by the network policy: ${denied.hosts.slice(-MOST_NAMED).map(placeOf).join(', ')}`;
  if (reason === 'exited' && exit_code === 0 && refused === '') return output === '' ? '[no output]' : '';
  return `${lineEnd(output)}[${reason === 'exited' ? '' : `${reason}, `}exit code ${exit_code}${refused}]`;
}

/** Of 50, the last ones. */
const MOST_NAMED = 5;

const placeOf = ({ host, port, code }: DeniedHost): string => `${host}${port === 0 ? '' : `:${port}`} (${code})`;

export function endFields(end: ProcessEnd | undefined) {
  if (end === undefined) return { running: true };
  const { exit_code, reason: end_reason, denied } = end;
  return { running: false, exit_code, end_reason, ...(denied && { denied_hosts: denied.hosts.map(placeOf) }) };
}

const lineEnd = (text: string): string => (text === '' || text.endsWith('\n') ? '' : '\n');
