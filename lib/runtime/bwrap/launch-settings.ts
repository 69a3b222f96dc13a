import type { Descriptors } from '../../descriptors.ts';
import type { TerminalLimit } from '../terminal-limit/terminal-limit.ts';
import type { StartProcess } from './launcher.ts';
import type { Sources } from './with-arguments.ts';

/** What the launches of all sandboxes of a runtime have in common. */
export interface LaunchSettings extends Sources {
  bwrapPath: string;
  /** Whether the server is root, so that sandboxes get host uids of their own. */
  root: boolean;
  resetSignals: readonly string[];
  start: StartProcess;
  descriptors: Descriptors;
  terminals: TerminalLimit;
  stopGraceMs?: number;
  /** See `LaunchPlan`. */
  needs?(workspace: string): readonly string[] | undefined;
}
