import type { Choice } from '../../trees/algebra/choice.ts';
import type { OnConflict } from '../../trees/algebra/commit-options.ts';
import type { PathChange } from '../../trees/algebra/diff.ts';

export interface CommitRequest {
  readonly choice: Choice;
  readonly onConflict: OnConflict;
  /** Throws a ServiceError for a chosen change that the rules forbid. */
  readonly check: (change: PathChange) => void;
  readonly author: string;
  readonly message: string;
  /** Names the commit: 16 random bytes. */
  readonly id: Buffer;
  /** Names the request, if the client may repeat it. */
  readonly intent: Buffer | undefined;
  /** The client has asked before, and nobody knows what came of that. */
  readonly isRepeated: boolean;
}

export interface CommitAnswer {
  /** Number of the version; that of head if nothing changed there. */
  readonly version: number;
  /** Changes of the codebase. */
  readonly count: number;
  /** Of the first changes, and of the first conflicts that were decided. */
  readonly paths: readonly string[];
  readonly conflicts: readonly string[];
}
