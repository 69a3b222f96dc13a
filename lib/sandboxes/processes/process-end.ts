import { constants } from 'node:os';
import type { ProcessEnd } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import { exitReason } from '../../exit-reason.ts';
import type { CommandEvent } from '../../runtime/runtime.ts';

const UNKNOWN_CODE = -1;
const { SIGKILL } = constants.signals;
/** A shell's exit code for signal N is this + N. */
const AFTER_SIGNAL = 128;

type Exit = Extract<CommandEvent, { kind: 'exit' }>;
type EndReason = 'exited' | 'signaled' | 'timeout' | 'out_of_memory' | 'killed' | 'sandbox_stopped' | 'sandbox_lost';

/** `killed`: a caller killed it. */
export function endOfExit(exit: Exit, killed: boolean): ProcessEnd {
  const { reason, signal } = exitReason(exit);
  return {
    reason: killed && signal === SIGKILL ? 'killed' : reason,
    exit_code: exit.exitCode,
    signal,
    duration_ms: exit.durationMs,
  };
}

/** The end of a process whose command failed with `error`. `stopped`: its sandbox was stopped or destroyed. */
export function endOfError(error: unknown, durationMs: number, stopped: boolean): ProcessEnd {
  const code = error instanceof ServiceError ? error.code : undefined;
  if (code === 'DEADLINE_EXCEEDED') return byKill('timeout', durationMs);
  if (code === 'CANCELLED') return byKill('killed', durationMs);
  return {
    reason: stopped ? 'sandbox_stopped' : 'sandbox_lost',
    exit_code: UNKNOWN_CODE,
    signal: 0,
    duration_ms: durationMs,
  };
}

function byKill(reason: EndReason, duration_ms: number): ProcessEnd {
  return { reason, exit_code: AFTER_SIGNAL + SIGKILL, signal: SIGKILL, duration_ms };
}

/** The end of a process that an earlier server ran. */
export const LOST: ProcessEnd = { reason: 'sandbox_lost', exit_code: UNKNOWN_CODE, signal: 0, duration_ms: 0 };
