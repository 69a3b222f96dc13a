import { setTimeout as delay } from 'node:timers/promises';
import type { ExecResponse } from '../../lib/contract/messages.ts';
import { ServiceError } from '../../lib/errors.ts';
import type { ExecMemory } from '../../lib/exec-memory.ts';
import { exitReason } from '../../lib/exit-reason.ts';
import { type Text, TextBuffer } from '../../lib/long-text.ts';
import type { Execution } from '../../lib/runtime/runtime.ts';

/**
 * The threat: a command with endless output keeps the server busy reading data that is discarded. Discarded output is
 * read at 200 MB/s at most; the command blocks meanwhile.
 */
const DISCARDED_PER_PAUSE = 1024 * 1024;
const PAUSE_MS = 5;

/** An ExecResponse whose long texts are encoded in pieces. */
export type ExecResult = Omit<ExecResponse, 'stdout' | 'stderr'> & { stdout: Text; stderr: Text };

/** Reads the output of a command to its end. After a timeout, the output so far is in the details of the error. */
export async function collect(execution: Execution, limit: number, memory: ExecMemory): Promise<ExecResult> {
  const output = newTexts(limit, memory);
  let dropped = 0;
  try {
    for await (const event of execution) {
      if (event.kind === 'output') {
        dropped += output[event.stream].append(event.data);
        if (dropped < DISCARDED_PER_PAUSE) continue;
        dropped = 0;
        await delay(PAUSE_MS);
        continue;
      }
      const { exitCode: exit_code, durationMs: duration_ms } = event;
      const { reason: end_reason } = exitReason(event);
      return { ...resultOf(output), exit_code, duration_ms, end_reason, running: false, process_id: '' };
    }
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'DEADLINE_EXCEEDED') throw error;
    const partial = { stdout: output.STDOUT.text(), stderr: output.STDERR.text() };
    throw new ServiceError(error.code, error.message, [...error.details, partial], { cause: error });
  }
  throw new Error('the execution ended without an exit event');
}

export type Texts = Record<'STDOUT' | 'STDERR', CutText>;

export function newTexts(limit: number, memory: ExecMemory): Texts {
  return { STDOUT: new CutText(limit, memory), STDERR: new CutText(limit, memory) };
}

/** The fields of the answer that depend on the output only, and those that are not set for every command. */
export function resultOf({ STDOUT, STDERR }: Texts) {
  return {
    stdout: STDOUT.text(),
    stderr: STDERR.text(),
    output_truncated: STDOUT.dropped + STDERR.dropped > 0,
    stdout_dropped_bytes: STDOUT.dropped,
    stderr_dropped_bytes: STDERR.dropped,
    session_ended: false,
    session_reset: false,
  };
}

/**
 * Text of at most `limit` bytes, and of no more than the available memory: U+FFFD for bytes that are not UTF-8, and a
 * last line that reports a cut.
 */
class CutText {
  readonly #limit: number;
  readonly #memory: ExecMemory;
  readonly #kept = new TextBuffer();
  /** Set once output was omitted; further output is omitted, too. */
  #cut: 'limit' | 'memory' | undefined;
  /** Bytes that were not kept. */
  dropped = 0;

  constructor(limit: number, memory: ExecMemory) {
    this.#limit = limit;
    this.#memory = memory;
  }

  /** Returns the number of bytes of `data` that were not kept. */
  append(data: Buffer): number {
    if (this.#cut !== undefined) {
      this.dropped += data.length;
      return data.length;
    }
    const room = Math.min(data.length, this.#limit - this.#kept.bytes);
    const kept = this.#memory.grow(room);
    if (kept < room) this.#cut = 'memory';
    else if (room < data.length) this.#cut = 'limit';
    if (kept > 0) this.#kept.append(kept < data.length ? data.subarray(0, kept) : data);
    this.dropped += data.length - kept;
    return data.length - kept;
  }

  /** Counts bytes that are no longer known. */
  skip(bytes: number): void {
    this.dropped += bytes;
  }

  text(): Text {
    if (this.#cut === undefined) return this.#kept.text();
    const why = this.#cut === 'memory' ? ': the sandbox has its share of limits.exec_memory_bytes in use' : '';
    // A partial character at the cut is omitted.
    return this.#kept.text(`[output cut at ${this.#kept.bytes} bytes${why}]\n`);
  }
}
