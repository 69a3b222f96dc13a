import { StringDecoder } from 'node:string_decoder';
import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError } from '../lib/errors.ts';
import type { ExecResponse } from '../lib/messages.ts';
import { define, execRequest } from './define.ts';

/** Bytes of each stream that are kept; more is read and dropped, so that the command goes on. */
const DEFAULT_OUTPUT_BYTES = 8 * 1024 * 1024;

/**
 * The threat: a command that writes without end keeps the server busy with what nobody gets. What is dropped is read at
 * 200 MB/s at most; the command waits meanwhile.
 */
const DROPPED_AT_ONCE = 1024 * 1024;
const PAUSE_MS = 5;

/** Runs a command to its end. What it had written when its timeout ended it is in the error's details. */
export const exec = define(execRequest, async ({ request }, { services, signal }): Promise<ExecResponse> => {
  const execution = await services.sandboxes.exec(request, signal);
  const limit = services.limits?.execOutputBytes ?? DEFAULT_OUTPUT_BYTES;
  const output = { STDOUT: new CutText(limit), STDERR: new CutText(limit) };
  let dropped = 0;
  try {
    for await (const event of execution) {
      if (event.kind === 'output') {
        dropped += output[event.stream].append(event.data);
        if (dropped < DROPPED_AT_ONCE) continue;
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
});

/** Text of at most `limit` bytes: U+FFFD for what is not UTF-8, and a last line that says so when it was cut. */
class CutText {
  readonly #limit: number;
  readonly #decoder = new StringDecoder('utf8');
  #text = '';
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Answers how many bytes of `data` were not kept. */
  append(data: Buffer): number {
    const room = Math.max(0, this.#limit - this.#bytes);
    this.#bytes += data.length;
    if (room > 0) this.#text += this.#decoder.write(data.length > room ? data.subarray(0, room) : data);
    return Math.max(0, data.length - room);
  }

  text(): string {
    if (this.#bytes <= this.#limit) return this.#text + this.#decoder.end();
    // A character the cut went through is left out whole.
    const newline = this.#text === '' || this.#text.endsWith('\n') ? '' : '\n';
    return `${this.#text}${newline}[output cut at ${this.#limit} bytes]\n`;
  }
}
