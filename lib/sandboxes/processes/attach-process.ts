import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessEvent } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import { toServiceError } from '../../host-error.ts';
import type { AttachInput, AttachRequest } from '../../process-services.ts';
import type { SandboxContext } from '../context.ts';
import type { LiveProcess } from './live-process.ts';
import { checkOffset, event, eventsOf, processesOf } from './read-output.ts';

/** Milliseconds in which a process that has closed its input may end, so that its end is told instead of an error. */
const ENDING_MS = 2000;
/** Bytes that are written at once: as many may still be written after the call has ended. */
const PIECE_BYTES = 65_536;

/** See `Processes.attach`. */
export async function attachProcess(
  { sandbox_id, process_id, offset, takeover }: AttachRequest,
  input: AttachInput,
  context: SandboxContext,
): Promise<AsyncGenerator<ProcessEvent, void, void>> {
  const process = (await processesOf(sandbox_id, context)).get(process_id);
  checkOffset(offset, process);
  return attached(process, offset, takeover, input);
}

async function* attached(
  process: LiveProcess,
  from: number,
  takeover: boolean,
  input: AttachInput,
): AsyncGenerator<ProcessEvent, void, void> {
  const leave = process.writer.take(takeover, () =>
    input.fail(new ServiceError('ABORTED', 'another caller took over the input of the process')),
  );
  const writer = leave !== undefined;
  try {
    const { terminal } = process.view();
    const { next } = process.log.position;
    yield event({ next: from, attached: { terminal: terminal !== undefined, writer, offset: next } });
    void writeInput(process, input, writer);
    void control(process, input, writer);
    for await (const each of eventsOf(process, from, input.failed)) yield* divided(each, next);
  } finally {
    leave?.();
  }
}

/** Divides output at `offset`: what is before it was written before the call, and the caller shows it as such. */
function* divided(whole: ProcessEvent, offset: number): Generator<ProcessEvent, void, void> {
  const before = offset - (whole.next - whole.data.length);
  if (before <= 0 || whole.next <= offset) {
    yield whole;
    return;
  }
  yield { ...whole, data: whole.data.subarray(0, before), next: offset };
  yield { ...whole, data: whole.data.subarray(before) };
}

async function writeInput(process: LiveProcess, input: AttachInput, writer: boolean): Promise<void> {
  try {
    for await (const { stdin, end_stdin } of input.stdin) {
      // Nothing more is written for a caller who has left, was cut off or is not the writer any more.
      if (input.failed.aborted) return;
      if (!writer) throw notWriter();
      for (let at = 0; at < stdin.length && !input.failed.aborted; at += PIECE_BYTES) {
        await process.write(stdin.subarray(at, at + PIECE_BYTES), undefined, input.failed);
      }
      if (end_stdin && !input.failed.aborted) await process.endInput();
    }
  } catch (error) {
    if (writer) await Promise.race([process.ended, delay(ENDING_MS, undefined, { ref: false })]);
    // The input of a process that has ended is dropped: what its caller waits for is the rest of the output.
    if (process.end === undefined) input.fail(toServiceError(error));
  }
}

async function control(process: LiveProcess, input: AttachInput, writer: boolean): Promise<void> {
  try {
    for await (const { resize, signal } of input.controls) {
      if (input.failed.aborted) return;
      if (resize && writer && process.view().terminal !== undefined) await process.resize(resize);
      if (signal === '') continue;
      if (!writer) throw notWriter();
      await process.signal(signal);
    }
  } catch (error) {
    input.fail(toServiceError(error));
  }
}

function notWriter(): ServiceError {
  return new ServiceError(
    'FAILED_PRECONDITION',
    'another caller writes to the process: attach with takeover to write instead',
  );
}
