import { mkdirSync } from 'node:fs';
import { complete, type Steps } from '../../../lib/fuse/connection/steps.ts';
import { Postponed } from '../../../lib/fuse/filesystem.ts';
import type { WorkspaceFileSystemOptions } from '../../../lib/workspaces/workspace-file-system.ts';
import { Sandbox } from './sandbox.ts';

type Operation = Parameters<Sandbox['fs']['begin']>[0];

/** A sandbox whose long work waits until the test goes on with it. */
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

/** What a killed server leaves is read, all of it, by the next one. */
export function restart(s: Sandbox, started: Steps<unknown>[]): void {
  s.restart();
  try {
    s.id('');
  } catch (thrown) {
    if (!(thrown instanceof Postponed)) throw thrown;
    complete(started.at(-1)!);
  }
}

/** Takes so many steps; whether they were all there are. */
export function take(steps: Steps<unknown>, count: number): boolean {
  for (let step = 0; step < count; step++) if (steps.next().done) return true;
  return false;
}

/** The steps of an operation. Throws when it has none. */
export function begin(s: Sandbox, operation: Operation, ...args: unknown[]): Steps<unknown> {
  const begun = s.fs.begin(operation, args);
  if (begun === undefined) throw new Error(`${operation} is done at once`);
  return begun;
}

/** The cause for which a request was postponed. Throws when it was not. */
export function postponedBy(act: () => unknown): number {
  try {
    act();
  } catch (thrown) {
    if (thrown instanceof Postponed) return thrown.cause;
    throw thrown;
  }
  throw new Error('it was not postponed');
}

/** Takes all steps; returns their number. */
export function count(steps: Steps<unknown>): number {
  let taken = 1;
  while (!steps.next().done) taken++;
  return taken;
}
