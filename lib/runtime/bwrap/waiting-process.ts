import type { LaunchPlan } from './prelude.ts';

/** Characters of stderr that are kept. */
export const MAX_ERROR = 500;

/**
 * A process in the cgroups of a sandbox, with its limits, that later executes bwrap. Until `launch` it waits and uses hardly
 * any resources. It ends with the server.
 */
export interface WaitingProcess {
  /** Host pid; undefined until it is known, or if the process could not be started. */
  readonly pid: number | undefined;
  /** Resolves when `pid` is known, or the process could not be started. Never rejects. */
  readonly started: Promise<void>;
  /** Resolves with the exit status when the process has exited: bwrap once launched, and with it the whole sandbox. */
  readonly ended: Promise<string>;
  readonly alive: boolean;
  /** The output on stderr so far. */
  readonly said: string;
  /** Executes bwrap. Call once. */
  launch(plan: LaunchPlan): void;
  /** Stops reading stderr. */
  closeOutput(): void;
  /** Sends SIGKILL; nothing after its end. */
  kill(): void;
}

export const endOfBwrap = (how: string): string => `bwrap ended with ${how}`;
