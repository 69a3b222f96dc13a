import { setTimeout as delay } from 'node:timers/promises';
import type { ExecResponse } from '../../lib/contract/messages.ts';
import { exitReason } from '../../lib/exit-reason.ts';
import type { Text } from '../../lib/long-text.ts';
import type { Execution } from '../../lib/runtime/runtime.ts';
import type { ExecOutput } from './exec-output.ts';

/**
 * The threat: a command with endless output keeps the server busy reading data that is discarded. Discarded output is
 * read at 200 MB/s at most; the command blocks meanwhile.
 */
const DISCARDED_PER_PAUSE = 1024 * 1024;
const PAUSE_MS = 5;

type TextFields = Record<'stdout' | 'stderr' | 'output', Text>;

/** An ExecResponse whose long texts are encoded in pieces. */
export type ExecResult = Omit<ExecResponse, keyof TextFields> & TextFields;

/** The fields of the answer that are not set for every command. */
export const NOT_GOING_ON = {
  running: false,
  process_id: '',
  session_ended: false,
  session_reset: false,
  denied_hosts: [],
};

/**
 * Reads the output of a command to its end. `failed` returns the error to throw; after a timeout it gets the output so
 * far, for the details.
 */
export async function collect(
  execution: Execution,
  output: ExecOutput,
  failed: (error: unknown, partial: object) => Promise<unknown>,
): Promise<ExecResult> {
  let dropped = 0;
  try {
    for await (const event of execution) {
      if (event.kind === 'output') {
        dropped += output.append(event.stream, event.data);
        if (dropped < DISCARDED_PER_PAUSE) continue;
        dropped = 0;
        await delay(PAUSE_MS);
        continue;
      }
      const { exitCode: exit_code, durationMs: duration_ms } = event;
      const { reason: end_reason } = exitReason(event);
      const denied_hosts = event.denied ?? [];
      return { ...output.fields(), ...NOT_GOING_ON, exit_code, duration_ms, end_reason, denied_hosts };
    }
  } catch (error) {
    const { stdout, stderr, output: merged, ...counts } = output.fields();
    const texts = merged === '' ? { stdout, stderr } : { output: merged };
    throw await failed(error, counts.output_truncated ? { ...texts, ...counts } : texts);
  }
  throw new Error('the execution ended without an exit event');
}
