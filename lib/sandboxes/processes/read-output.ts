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
/** Bytes of one read of a watch. Larger strings and buffers cost more for each byte: each gets memory of its own. */
const WATCH_BYTES = 65_536;
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
  signal.throwIfAborted();
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
  return eventsOf(process, offset, signal, keepaliveMs);
}

/** The events from `offset` on; keepalives among them after each `keepaliveMs` without another one. */
export async function* eventsOf(
  process: LiveProcess,
  offset: number,
  signal: AbortSignal,
  keepaliveMs: number = KEEPALIVE_MS,
): AsyncGenerator<ProcessEvent, void, void> {
  for (let at = offset; !signal.aborted; ) {
    const near = process.log.near(at, WATCH_BYTES);
    if (near !== undefined) {
      at += near.data.length;
      yield event({ next: at, stream: near.stream, data: near.data });
      continue;
    }
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
  // A reader that the server cuts off must not take that for the end.
  throw signal.reason;
}

export const event = (fields: Partial<ProcessEvent> & { next: number }): ProcessEvent => ({
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
  if (process.end !== undefined) return true;
  await process.log.more(offset, signal, milliseconds);
  // The end of a process follows that of its log as soon as its record is stored.
  if (process.log.ended && isAtEnd(process, offset)) await process.ended;
  return process.end !== undefined || !isAtEnd(process, offset);
}

export function checkOffset(offset: number, { log }: LiveProcess): void {
  const { next } = log.position;
  if (offset > next) throw invalidArgument('offset', `must be at most ${next} (output_next), not ${offset}`);
}

/** The processes of a sandbox in any state. NOT_FOUND without such a sandbox. */
export function processesOf(sandboxId: string, context: SandboxContext) {
  return context.processes.of(context.find(sandboxId).id);
}
