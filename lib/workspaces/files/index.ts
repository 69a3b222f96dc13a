import type { ByteString } from '../../byte-string.ts';
import { ServiceError } from '../../errors.ts';
import type { Actor } from '../../field-values.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { AGENT } from '../access/access.ts';
import type { Workspace } from '../workspace.ts';
import type { FileOperation, WorkspaceFiles } from '../workspace-files.ts';
import { list } from './list.ts';
import { makeDirectory, move, remove } from './names.ts';
import { OWNER } from './owner-access.ts';
import { mayPlace, place } from './place.ts';
import { open, readOpen } from './read.ts';
import { refusal } from './refusal.ts';
import { append, seal, stage } from './stage.ts';
import { statusOf } from './status.ts';
import { mayUnpack, unpack } from './unpack.ts';
import { Visit } from './visit.ts';

interface Entry<O extends FileOperation, Result> {
  run(visit: Visit, ...args: Parameters<WorkspaceFiles[O]>): Result;
  /** The path that a refusal names. */
  path(...args: Parameters<WorkspaceFiles[O]>): ByteString | undefined;
}

/** Operations on directories that may be large: done as steps. */
type LongOperation = 'list' | 'remove';
type Table = { [O in Exclude<FileOperation, LongOperation>]: Entry<O, ReturnType<WorkspaceFiles[O]>> };
type LongTable = { [O in LongOperation]: Entry<O, Steps<ReturnType<WorkspaceFiles[O]>>> };

const first = (path: ByteString): ByteString => path;
const second = (_: unknown, path: ByteString): ByteString => path;
const none = (): undefined => undefined;

const table: Table = {
  stat: { run: (visit, path) => statusOf(visit, visit.find(path, false), path), path: first },
  open: { run: open, path: first },
  read: { run: readOpen, path: none },
  close: {
    run: ({ workspace }, handles) => {
      for (const handle of handles) workspace.handles.close(workspace.tree, handle);
    },
    path: none,
  },
  makeDirectory: { run: makeDirectory, path: first },
  move: { run: move, path: none },
  mayPlace: { run: mayPlace, path: first },
  stage: { run: stage, path: none },
  append: { run: append, path: none },
  seal: { run: seal, path: none },
  place: { run: place, path: second },
  mayUnpack: { run: mayUnpack, path: first },
  unpack: { run: unpack, path: first },
};

const longTable: LongTable = {
  list: { run: list, path: first },
  remove: { run: remove, path: first },
};

type Run = Entry<FileOperation, unknown> & {
  run(visit: Visit, ...args: readonly unknown[]): unknown;
  path(...args: readonly unknown[]): ByteString | undefined;
};

export function isLong(operation: FileOperation): operation is LongOperation {
  return operation in longTable;
}

/** Throws only ServiceErrors, Postponed, and what is a defect. */
export function runFileOperation(
  workspace: Workspace,
  actor: Actor,
  operation: Exclude<FileOperation, LongOperation>,
  args: readonly unknown[],
): unknown {
  const { run, path } = table[operation] as unknown as Run;
  const visit = new Visit(workspace, actor === 'owner' ? OWNER : AGENT);
  try {
    try {
      return run(visit, ...args);
    } finally {
      visit.end();
    }
  } catch (error) {
    throw error instanceof ServiceError ? error : refusal(error, path(...args));
  }
}

/** As `runFileOperation`. The caller holds the workspace: the nodes that the steps came by stay what they are. */
export function* fileOperationSteps(
  workspace: Workspace,
  actor: Actor,
  operation: LongOperation,
  args: readonly unknown[],
): Steps<unknown> {
  const { run, path } = longTable[operation] as unknown as Run;
  const visit = new Visit(workspace, actor === 'owner' ? OWNER : AGENT);
  try {
    try {
      return yield* run(visit, ...args) as Steps<unknown>;
    } finally {
      visit.end();
    }
  } catch (error) {
    throw error instanceof ServiceError ? error : refusal(error, path(...args));
  }
}
