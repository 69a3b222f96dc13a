import { mkdirSync } from 'node:fs';
import { complete, type Steps } from '../../../lib/fuse/connection/steps.ts';
import { Postponed } from '../../../lib/fuse/filesystem.ts';
import type { WorkspaceFileSystemOptions } from '../../../lib/workspaces/workspace-file-system-options.ts';
import { Sandbox } from './sandbox.ts';

type Operation = Parameters<Sandbox['fs']['begin']>[0];

/** A sandbox; the test runs the steps of its long operations. */
export function sliced(
  base: Record<string, string> = {},
  options: WorkspaceFileSystemOptions = {},
  { layers = false } = {},
) {
  const started: Steps<unknown>[] = [];
  const released: number[] = [];
  const startSteps = (steps: Steps<unknown>) => started.push(steps);
  const s = new Sandbox(base, {}, { startSteps, released: (cause) => released.push(cause), ...options });
  if (layers) {
    mkdirSync(`${s.home}/layers`);
    s.goOn({ ...s.spec, layers: `${s.home}/layers` });
  }
  return { s, started, released };
}

/** The next server reads the complete state of the killed one. */
export function restart(s: Sandbox, started: Steps<unknown>[]): void {
  s.restart();
  try {
    s.id('');
  } catch (thrown) {
    if (!(thrown instanceof Postponed)) throw thrown;
    complete(started.at(-1)!);
  }
}

/** Runs this number of steps. Returns whether the operation is complete. */
export function take(steps: Steps<unknown>, count: number): boolean {
  for (let step = 0; step < count; step++) if (steps.next().done) return true;
  return false;
}

/** Returns the steps of an operation. Throws if it has none. */
export function begin(s: Sandbox, operation: Operation, ...args: unknown[]): Steps<unknown> {
  const begun = s.fs.begin(operation, args);
  if (begun === undefined) throw new Error(`${operation} is done at once`);
  return begun;
}

/** Returns the reason for which a request was postponed. Throws if it was not postponed. */
export function postponedBy(act: () => unknown): number {
  try {
    act();
  } catch (thrown) {
    if (thrown instanceof Postponed) return thrown.cause;
    throw thrown;
  }
  throw new Error('it was not postponed');
}

/** Runs all steps. Returns their number. */
export function count(steps: Steps<unknown>): number {
  let taken = 1;
  while (!steps.next().done) taken++;
  return taken;
}
