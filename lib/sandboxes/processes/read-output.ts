import { setTimeout as delay } from 'node:timers/promises';
import type {
  ProcessEvent,
  ReadProcessOutputRequest,
  ReadProcessOutputResponse,
  WatchProcessRequest,
} from '../../contract/messages.ts';
import { invalidArgument } from '../../errors.ts';
import type { SandboxContext } from '../context.ts';
import type { LiveProcess } from './live-process.ts';

const DEFAULT_BYTES = 65_536;
/** Bytes of one read of a watch. */
const WATCH_BYTES = 262_144;
const KEEPALIVE_MS = 15_000;
const NOTHING = new Uint8Array(0);

/** See `Processes.read`. */
export async function readOutput(
  { sandbox_id, process_id, offset, max_bytes, wait }: ReadProcessOutputRequest,
  signal: AbortSignal,
  context: SandboxContext,
): Promise<ReadProcessOutputResponse> {
  const process = (await processesOf(sandbox_id, context)).get(process_id);
  checkOffset(offset, process);
  if (wait > 0 && isAtEnd(process, offset)) await changeOf(process, offset, wait, signal);
  const { gap, pieces, next } = await process.log.read(offset, max_bytes === 0 ? DEFAULT_BYTES : max_bytes);
  const end = isAtEnd(process, next) ? process.end : undefined;
  return { gap, output: pieces, next, ...(end && { end }) };
}

/** See `Processes.watch`. `keepaliveMs`: tests use a shorter one. */
export async function watchProcess(
  { sandbox_id, process_id, offset }: WatchProcessRequest,
  signal: AbortSignal,
  context: SandboxContext,
  keepaliveMs: number = KEEPALIVE_MS,
): Promise<AsyncGenerator<ProcessEvent, void, void>> {
  const process = (await processesOf(sandbox_id, context)).get(process_id);
  checkOffset(offset, process);
  return events(process, offset, signal, keepaliveMs);
}

async function* events(
  process: LiveProcess,
  offset: number,
  signal: AbortSignal,
  keepaliveMs: number,
): AsyncGenerator<ProcessEvent, void, void> {
  for (let at = offset; !signal.aborted; ) {
    const { gap, pieces, next } = await process.log.read(at, WATCH_BYTES);
    if (gap > 0) yield event({ next: at + gap, gap });
    for (const { stream, offset: from, data } of pieces) yield event({ next: from + data.length, stream, data });
    at = next;
    if (!isAtEnd(process, at)) continue;
    if (process.end !== undefined) {
      yield event({ next: at, end: process.end });
      return;
    }
    if (await changeOf(process, at, keepaliveMs, signal)) continue;
    if (!signal.aborted) yield event({ next: at, keepalive: true });
  }
}

const event = (fields: Partial<ProcessEvent> & { next: number }): ProcessEvent => ({
  data: NOTHING,
  stream: '',
  gap: 0,
  keepalive: false,
  ...fields,
});

const isAtEnd = (process: LiveProcess, offset: number): boolean => offset >= process.log.position.next;

/** Waits for output after `offset` or the end of the process; false: neither came in time. */
async function changeOf(
  process: LiveProcess,
  offset: number,
  milliseconds: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (process.end !== undefined || !isAtEnd(process, offset)) return true;
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const output = process.log.ended ? process.ended : process.log.more(offset, either).then(() => endedToo(process));
  const timer = delay(milliseconds, undefined, { signal: either }).catch(() => undefined);
  try {
    await Promise.race([output, timer]);
  } finally {
    over.abort();
  }
  return process.end !== undefined || !isAtEnd(process, offset);
}

/** The end of a process follows that of its log. */
const endedToo = (process: LiveProcess): Promise<void> | undefined => (process.log.ended ? process.ended : undefined);

function checkOffset(offset: number, { log }: LiveProcess): void {
  const { next } = log.position;
  if (offset > next) throw invalidArgument('offset', `must be at most ${next} (output_next), not ${offset}`);
}

/** The processes of a sandbox in any state. NOT_FOUND without such a sandbox. */
export function processesOf(sandboxId: string, context: SandboxContext) {
  return context.processes.of(context.find(sandboxId).id);
}
