import * as z from 'zod';
import type { ProcessEnd } from '../../../lib/contract/messages.ts';
import { ServiceError } from '../../../lib/errors.ts';
import { endOfCharacters } from '../../../lib/text-tools/whole-characters.ts';
import { answerOf, CHANGES, type Place, tool } from '../tool.ts';
import { endFields, noteOf, processOutput } from './exec.ts';
import { SHOWN_BYTES } from './output-window.ts';
import { streamOf } from './write-files.ts';

const WAIT_SECONDS = 5;
const MAX_WAIT_SECONDS = 240;
const MAX_READ_WAIT_MS = 60_000;
/** After input or a signal, the answer waits for further output no longer than this. */
const QUIET_MS = 500;
const INPUT_MS = 30_000;

export const processTool = tool({
  name: 'process',
  operation: 'WriteProcessInput',
  description:
    'Go on with a command of exec: write to its input, signal it, and read its output: from offset (next_offset), or what is new, or the last 20 kB. Waits until it has ended or wait is over; after input or signal, until it is quiet.',
  input: {
    id: z.string().describe('process_id'),
    input: z.string().optional(),
    end_input: z.boolean().optional().describe('Close standard input'),
    signal: z.string().optional().describe('SIGINT, SIGTERM, SIGKILL, …'),
    wait: z.number().min(0).max(MAX_WAIT_SECONDS).optional().describe(`Seconds, by default ${WAIT_SECONDS}`),
    offset: z.int().min(0).optional(),
  },
  output: { ...processOutput, next_offset: z.int(), more_bytes: z.int(), missing_bytes: z.int().optional() },
  hints: CHANGES,
  async run({ id, input = '', end_input = false, signal, wait = WAIT_SECONDS, offset }, place: Place) {
    const { caller, sandbox_id } = place;
    const ids = { sandbox_id, process_id: id };
    const before = await caller.request('GetProcess', ids);
    const acts = input !== '' || end_input || signal !== undefined;
    if (input !== '' || end_input) await writeInput(place, id, input, end_input);
    if (signal !== undefined) await caller.request('SignalProcess', { ...ids, signal });
    const newest = acts ? before.output_next : Math.max(before.output_first, before.output_next - SHOWN_BYTES);
    const read = await readUntil(place, id, offset ?? newest, { until: Date.now() + wait * 1000, acts });
    const { output, next, gap } = read;
    // The end is known only to a reader of all output: this one may have read a part.
    const after =
      read.end === undefined ? await caller.request('GetProcess', ids) : { end: read.end, output_next: next };
    const more = after.output_next - next;
    const missed = gap > 0 ? `[${gap} bytes are no longer kept]\n` : '';
    const position = `\n[next_offset ${next}${more > 0 ? `, ${more} more bytes` : ''}]`;
    return answerOf(`${missed}${output}${noteOf(id, after.end, output)}${position}`, {
      output,
      process_id: id,
      ...endFields(after.end),
      next_offset: next,
      more_bytes: more,
      ...(gap > 0 && { missing_bytes: gap }),
    });
  },
});

/** A process that does not read its input must not keep the call waiting for ever. */
async function writeInput({ caller, sandbox_id }: Place, process_id: string, input: string, end: boolean) {
  const over = new AbortController();
  const late = new ServiceError('DEADLINE_EXCEEDED', `the process did not read its input in ${INPUT_MS / 1000} s`);
  const timer = setTimeout(() => over.abort(late), INPUT_MS);
  try {
    const options = { stream: streamOf(Buffer.from(input)), signal: over.signal };
    await caller.request('WriteProcessInput', { sandbox_id, process_id, end }, options);
  } finally {
    clearTimeout(timer);
  }
}

interface Read {
  output: string;
  next: number;
  end: ProcessEnd | undefined;
  gap: number;
}

/** Reads up to SHOWN_BYTES. */
async function readUntil(
  { caller, sandbox_id }: Place,
  process_id: string,
  from: number,
  { until, acts }: { until: number; acts: boolean },
): Promise<Read> {
  const pieces: Uint8Array[] = [];
  let [at, size, gap] = [from, 0, 0];
  let end: ProcessEnd | undefined;
  while (end === undefined && size < SHOWN_BYTES) {
    const left = Math.max(0, Math.min(until - Date.now(), acts && size > 0 ? QUIET_MS : MAX_READ_WAIT_MS));
    const request = { sandbox_id, process_id, offset: at, max_bytes: SHOWN_BYTES - size, wait: left };
    const answer = await caller.request('ReadProcessOutput', request);
    for (const { data } of answer.output) {
      pieces.push(data);
      size += data.length;
    }
    gap += answer.gap;
    at = answer.next;
    end = answer.end;
    if (answer.output.length === 0 && (Date.now() >= until || (acts && size > 0))) break;
  }
  const bytes = Buffer.concat(pieces);
  const cut = end === undefined && size >= SHOWN_BYTES ? endOfCharacters(bytes) : bytes.length;
  return { output: bytes.toString('utf8', 0, cut), next: at - (bytes.length - cut), end, gap };
}
