import { setTimeout as delay } from 'node:timers/promises';
import { DEFAULT_OUTPUT_BYTES } from '../lib/command-limits.ts';
import type { ExecResponse } from '../lib/contract/messages.ts';
import { ServiceError } from '../lib/errors.ts';
import { ExecMemory } from '../lib/exec-memory.ts';
import { type Text, TextBuffer } from '../lib/long-text.ts';
import type { Execution } from '../lib/runtime/runtime.ts';
import { command, define } from './define.ts';

/**
 * The threat: a command with endless output keeps the server busy reading data that is discarded. Discarded output is
 * read at 200 MB/s at most; the command blocks meanwhile.
 */
const DISCARDED_PER_PAUSE = 1024 * 1024;
const PAUSE_MS = 5;

/** An ExecResponse whose long texts are encoded in pieces. */
type ExecResult = Omit<ExecResponse, 'stdout' | 'stderr'> & { stdout: Text; stderr: Text };

/** Runs a command to its end. After a timeout, the output so far is in the details of the error. */
export const exec = define(
  'Exec',
  command,
  async ({ request }, { services, signal, answered }): Promise<ExecResult> => {
    const { limits } = services;
    const memory = new ExecMemory(limits?.execMemory, request.sandbox_id);
    answered?.(() => memory.release());
    try {
      memory.holdInput(request.stdin);
      const execution = await services.sandboxes.exec(request, signal);
      return await collect(execution, limits?.execOutputBytes ?? DEFAULT_OUTPUT_BYTES, memory);
    } finally {
      // Held until the response is sent, if the adapter reports that.
      if (!answered) memory.release();
    }
  },
);

async function collect(execution: Execution, limit: number, memory: ExecMemory): Promise<ExecResult> {
  const output = { STDOUT: new CutText(limit, memory), STDERR: new CutText(limit, memory) };
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
      return { stdout: output.STDOUT.text(), stderr: output.STDERR.text(), exit_code, duration_ms };
    }
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'DEADLINE_EXCEEDED') throw error;
    const partial = { stdout: output.STDOUT.text(), stderr: output.STDERR.text() };
    throw new ServiceError(error.code, error.message, [...error.details, partial], { cause: error });
  }
  throw new Error('the execution ended without an exit event');
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

  constructor(limit: number, memory: ExecMemory) {
    this.#limit = limit;
    this.#memory = memory;
  }

  /** Returns the number of bytes of `data` that were not kept. */
  append(data: Buffer): number {
    if (this.#cut !== undefined) return data.length;
    const room = Math.min(data.length, this.#limit - this.#kept.bytes);
    const kept = this.#memory.grow(room);
    if (kept < room) this.#cut = 'memory';
    else if (room < data.length) this.#cut = 'limit';
    if (kept > 0) this.#kept.append(kept < data.length ? data.subarray(0, kept) : data);
    return data.length - kept;
  }

  text(): Text {
    if (this.#cut === undefined) return this.#kept.text();
    const why = this.#cut === 'memory' ? ': the sandbox has its share of limits.exec_memory_bytes in use' : '';
    // A partial character at the cut is omitted.
    return this.#kept.text(`[output cut at ${this.#kept.bytes} bytes${why}]\n`);
  }
}
