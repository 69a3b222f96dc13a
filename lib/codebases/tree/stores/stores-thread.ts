import { serveCalls } from '../../../threads/call-thread.ts';
import type { StoresOptions } from './open-codebases.ts';
import { StoresHere } from './stores-here.ts';
import type { HeadKeeper } from './tree-stores.ts';

export interface StoresThreadData {
  readonly role: 'tree-stores';
  readonly options: StoresOptions;
}

/** Serves the stores of codebases in this thread, for the role 'tree-stores'. */
export function runStores(workerData: unknown): void {
  serveCalls<HeadKeeper>((keeper) => new StoresHere((workerData as StoresThreadData).options, keeper));
}
