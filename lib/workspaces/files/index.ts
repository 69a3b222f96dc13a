import type { ByteString } from '../../byte-string.ts';
import type { Actor } from '../../field-values.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { AGENT } from '../access/access.ts';
import type { Workspace } from '../workspace.ts';
import type { FileOperation, WorkspaceFiles } from '../workspace-files.ts';
import { FileRequest } from './file-request.ts';
import { list } from './list.ts';
import { makeDirectory, move, remove } from './names.ts';
import { OWNER } from './owner-access.ts';
import { pack } from './pack.ts';
import { mayPlace, place } from './place.ts';
import { checkOpen, open, readOpen } from './read.ts';
import { redaction } from './redaction.ts';
import { errorAt } from './refused-by-rules.ts';
import { append, seal, stage } from './stage.ts';
import { statusOf } from './status.ts';
import { addMembers, beginUnpack, dropUnpack, unpack } from './unpack.ts';

interface Entry<O extends FileOperation, Result> {
  run(request: FileRequest, ...args: Parameters<WorkspaceFiles[O]>): Result;
  /** The path that an error message names. */
  path(...args: Parameters<WorkspaceFiles[O]>): ByteString | undefined;
}

/** Operations on what may be large; they run in steps. */
type LongOperation = 'list' | 'pack' | 'remove' | 'addMembers' | 'unpack' | 'dropUnpack';
/** Operations whose change is made at once and whose effects are applied in steps. */
type OperationWithEffects = 'move';
type Table = {
  [O in Exclude<FileOperation, LongOperation | OperationWithEffects>]: Entry<O, ReturnType<WorkspaceFiles[O]>>;
};
type LongTable = { [O in LongOperation | OperationWithEffects]: Entry<O, Steps<ReturnType<WorkspaceFiles[O]>>> };

const first = (path: ByteString): ByteString => path;
const second = (_: unknown, path: ByteString): ByteString => path;
const none = (): undefined => undefined;

const table: Table = {
  stat: { run: (request, path) => statusOf(request, request.find(path, false), path), path: first },
  redaction: { run: redaction, path: first },
  open: { run: open, path: first },
  read: { run: readOpen, path: none },
  check: { run: checkOpen, path: none },
  close: {
    run: ({ workspace }, handles) => {
      for (const handle of handles) workspace.handles.close(workspace.tree, handle);
    },
    path: none,
  },
  makeDirectory: { run: makeDirectory, path: first },
  mayPlace: { run: mayPlace, path: first },
  stage: { run: stage, path: none },
  append: { run: append, path: none },
  seal: { run: seal, path: none },
  place: { run: place, path: second },
  beginUnpack: { run: beginUnpack, path: first },
};

const longTable: LongTable = {
  list: { run: list, path: first },
  pack: { run: pack, path: first },
  move: { run: move, path: none },
  remove: { run: remove, path: first },
  addMembers: { run: addMembers, path: none },
  unpack: { run: unpack, path: second },
  dropUnpack: { run: dropUnpack, path: none },
};

type Run = Entry<FileOperation, unknown> & {
  run(request: FileRequest, ...args: readonly unknown[]): unknown;
  path(...args: readonly unknown[]): ByteString | undefined;
};

/** Whether an operation runs in steps (`fileOperationSteps`). */
export function isLong(operation: FileOperation): operation is LongOperation {
  return operation in longTable && !hasEffects(operation);
}

/** Whether an operation is begun by `beginFileOperation`. */
export function hasEffects(operation: FileOperation): operation is OperationWithEffects {
  return operation === 'move';
}

/** Runs an operation of `WorkspaceFiles`. Throws ServiceError, Postponed, or an unexpected exception. */
export function runFileOperation(
  workspace: Workspace,
  actor: Actor,
  operation: Exclude<FileOperation, LongOperation | OperationWithEffects>,
  args: readonly unknown[],
): unknown {
  const { run, path } = table[operation] as unknown as Run;
  const request = new FileRequest(workspace, actor === 'owner' ? OWNER : AGENT);
  try {
    try {
      return run(request, ...args);
    } finally {
      request.end();
    }
  } catch (error) {
    throw errorAt(request, error, path(...args));
  }
}

/** As `runFileOperation`, in steps. The caller holds the workspace, so that nodes stay valid between the steps. */
export function* fileOperationSteps(
  workspace: Workspace,
  actor: Actor,
  operation: LongOperation,
  args: readonly unknown[],
): Steps<unknown> {
  return yield* beginFileOperation(workspace, actor, operation, args);
}

/**
 * Makes the change of an operation at once and returns steps for its effects. The caller holds the workspace from then
 * on. Throws as `runFileOperation`.
 */
export function beginFileOperation(
  workspace: Workspace,
  actor: Actor,
  operation: LongOperation | OperationWithEffects,
  args: readonly unknown[],
): Steps<unknown> {
  const { run, path } = longTable[operation] as unknown as Run;
  const request = new FileRequest(workspace, actor === 'owner' ? OWNER : AGENT);
  const toOwn = (error: unknown) => errorAt(request, error, path(...args));
  try {
    return finishing(request, run(request, ...args) as Steps<unknown>, toOwn);
  } catch (error) {
    request.end();
    throw toOwn(error);
  }
}

function* finishing(request: FileRequest, steps: Steps<unknown>, toError: (error: unknown) => unknown): Steps<unknown> {
  try {
    try {
      return yield* steps;
    } finally {
      request.end();
    }
  } catch (error) {
    throw toError(error);
  }
}
