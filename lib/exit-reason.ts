import type { CommandEvent } from './runtime/runtime.ts';

/** Exit codes of shells for signals: 128+N. */
const AFTER_SIGNAL = 128;
const LAST_SIGNAL = 64;

/** Why a command ended by itself, with the number of the signal that ended it, or 0. */
export function exitReason({ exitCode, outOfMemory }: Extract<CommandEvent, { kind: 'exit' }>): {
  reason: 'exited' | 'signaled' | 'out_of_memory';
  signal: number;
} {
  const signal = exitCode > AFTER_SIGNAL && exitCode <= AFTER_SIGNAL + LAST_SIGNAL ? exitCode - AFTER_SIGNAL : 0;
  if (outOfMemory && exitCode !== 0) return { reason: 'out_of_memory', signal };
  return { reason: signal > 0 ? 'signaled' : 'exited', signal };
}
