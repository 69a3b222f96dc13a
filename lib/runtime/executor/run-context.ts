import type { TurnTime } from '../../turn-time.ts';
import type { Runner } from './runner.ts';
import type { Stdin } from './stdin.ts';

/** The result of the run for the executor, reported once, when the runner is free again or lost. */
export type Outcome = 'reusable' | 'left-behind' | 'killed' | 'unkillable' | 'garbage';

export interface RunContext {
  nonce: string;
  runner: Runner;
  /** See CommandScript. */
  reportsStart: boolean;
  stdin: Stdin | undefined;
  /** The line for stderr if the memory limit killed a process while this command ran; otherwise undefined. */
  outOfMemory: () => string | undefined;
  /** Whether the sandbox has reached its limit of processes. */
  atPidsLimit: () => boolean;
  /** Whether the end of the sandbox has begun and will be reported. Never rejects. */
  isEnding: () => Promise<boolean>;
  done: (outcome: Outcome) => void;
  /** Milliseconds between SIGTERM and the kill of a command that is stopped; 0: it is killed at once. */
  graceMs: number;
  /** For kills and last reads, shared by all sandboxes. */
  endings: TurnTime;
}
