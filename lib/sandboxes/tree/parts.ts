import type { Turn } from '../../codebases/tree/turn.ts';
import type { Sink, Source } from '../../trees/directory/source.ts';
import type { DirectoryEntry, Entry } from '../../trees/format/entry.ts';
import type { FrozenTree } from '../../workspaces/tree/exchange/attached-tree.ts';
import type { Root } from '../../workspaces/tree/journal/records.ts';

/** A codebase, in the thread of its store: `TreeCodebase` is one. */
export interface Codebase {
  /** Runs a step between the changes of the codebase: its head stays, but for what the step does. */
  inTurn<T>(step: (turn: Turn) => Promise<T>): Promise<T>;
}

/**
 * The tree of a sandbox whose programs go on: they see each exchange at one moment. Its owner makes calls for one sandbox one
 * after the other. A stopped sandbox has one, too, without programs.
 */
export interface TreeSandbox {
  readonly id: string;
  /** Reads objects of the codebase, of the sandbox, and of those that it was forked from. */
  readonly source: Source;
  readonly contents: FrozenContents;
  readonly results: Results;
  /** What it has seen of its codebase. */
  readonly base: Root;
  freeze(shared: boolean): Promise<FrozenTree>;
  /** See `take` and `swap` of `workspaces/tree/exchange`. */
  take(to: DirectoryEntry, version: number): Promise<boolean>;
  swap(from: DirectoryEntry, mine: DirectoryEntry, base: Root): Promise<boolean>;
  /** All that has happened so far is durable. */
  sync(): PromiseLike<void>;
  /** The requests of its programs wait until the step has ended. */
  held<T>(step: () => Promise<T>): Promise<T>;
  /** It could not hear of its own commit yet; its next operation begins with that. */
  lags(error: unknown): void;
}

/** Contents of frozen files, whose keys are of sandboxes' stores. */
export interface FrozenContents {
  /** Reads until `into` is full. Throws Damage and host errors. */
  read(entry: Entry, offset: number, into: Buffer): number;
  /** The data file of a shared tree: nobody writes to it any more. undefined: the contents have none. */
  path(entry: Entry): string | undefined;
}

/** Where trees that take the place of a frozen one are put: in the store of the sandbox. */
export interface Results extends Sink {
  /** All that was put is durable. */
  sync(): PromiseLike<void>;
}
