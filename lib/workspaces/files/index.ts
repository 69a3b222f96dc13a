import type { ByteString } from '../../byte-string.ts';
import { ServiceError } from '../../errors.ts';
import type { Actor } from '../../field-values.ts';
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

type Table = {
  [O in FileOperation]: {
    run(visit: Visit, ...args: Parameters<WorkspaceFiles[O]>): ReturnType<WorkspaceFiles[O]>;
    /** The path that a refusal names. */
    path(...args: Parameters<WorkspaceFiles[O]>): ByteString | undefined;
  };
};

const first = (path: ByteString): ByteString => path;
const second = (_: unknown, path: ByteString): ByteString => path;
const none = (): undefined => undefined;

const table: Table = {
  stat: { run: (visit, path) => statusOf(visit, visit.find(path, false), path), path: first },
  list: { run: list, path: first },
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
  remove: { run: remove, path: first },
  mayPlace: { run: mayPlace, path: first },
  stage: { run: stage, path: none },
  append: { run: append, path: none },
  seal: { run: seal, path: none },
  place: { run: place, path: second },
  mayUnpack: { run: mayUnpack, path: first },
  unpack: { run: unpack, path: first },
};

/** Throws only ServiceErrors, and what is a defect. */
export function runFileOperation(
  workspace: Workspace,
  actor: Actor,
  operation: FileOperation,
  args: readonly unknown[],
): unknown {
  const { run, path } = table[operation] as {
    run(visit: Visit, ...args: readonly unknown[]): unknown;
    path(...args: readonly unknown[]): ByteString | undefined;
  };
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
