import type { FileChange } from '../../../../lib/contract/messages.ts';
import type { SandboxPrograms } from './doors.ts';
import type { Tree } from './tree.ts';

interface KnownCheckpoint {
  name: string;
  tree: Tree;
  /** The codebase at that time. */
  base: Tree;
}

/** What a sandbox is judged by. */
export interface Judged {
  /** Index in RULES. */
  rules: number;
  /** Paths that something was done at: never forgotten, so this is more than what it changed. */
  touched: Set<string>;
  /** Of these, where something was removed or moved away. */
  removed: Set<string>;
  /** Paths at which others changed the codebase. */
  foreign: Set<string>;
  /** Contents that are its own: written, or copied when they could be read. */
  own: Set<string>;
}

/** What the model knows of one sandbox. */
export interface Known extends Judged {
  id: string;
  uid: number;
  autoCommit: string;
  running: boolean;
  programs: SandboxPrograms;
  /** What it has; undefined: not looked at yet. */
  tree: Tree | undefined;
  changes: readonly FileChange[];
  checkpoints: KnownCheckpoint[];
  /** Paths that may be names of one file. */
  aliases: Set<string>[];
}
