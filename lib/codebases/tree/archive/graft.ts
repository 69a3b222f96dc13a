import { type ByteString, joinPath, ROOT_PATH } from '../../../byte-string.ts';
import type { ImportMode } from '../../../field-values.ts';
import { entriesOf } from '../../../trees/directory/entries.ts';
import { type DirectoryEntry, type Entry, isDirectory, TYPE } from '../../../trees/format/entry.ts';
import { otherType } from '../../archive/refused-imports.ts';
import { buildDraft } from '../build-draft.ts';
import { DraftDirectory, isDirectoryNode, MAX_PENDING, type Node } from '../draft.ts';
import type { Edit } from '../edit.ts';
import { changedAt, modifiedAt } from '../new-entry.ts';
import { Marks } from './marks.ts';
import type { StagedTree } from './staged-members.ts';

/** Names in one step. */
const STEP = 256;

/** A directory that both have. */
interface Level {
  readonly path: ByteString;
  to: DraftDirectory;
  readonly from: DirectoryEntry;
  readonly entries: Iterator<Entry>;
}

/**
 * Brings the tree of an archive into that of the codebase. A directory that the codebase does not have comes as a whole. Throws
 * FAILED_PRECONDITION where one of them has a directory and the other one another type, unless it is an update. `most`: names
 * that are held in memory.
 */
export function* graft(
  edit: Edit,
  staged: StagedTree,
  mode: ImportMode,
  most = MAX_PENDING,
): Generator<void, void, void> {
  if (mode === 'replace') return replaceAll(edit, staged);
  const marks = mode === 'update' && staged.hasMarks ? new Marks(edit.store) : undefined;
  const levels = [levelOf(edit, ROOT_PATH, edit.draft.root, staged.root)];
  let done = 0;
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    if (++done % STEP === 0) yield;
    if (edit.draft.pending >= most + levels.length) yield* settle(edit, levels);
    const next = level.entries.next();
    if (next.done) {
      levels.pop();
      if (level.path !== ROOT_PATH && !staged.implied.has(level.from.ino)) takeAttributes(level, edit);
      continue;
    }
    const entry = next.value;
    const path = joinPath(level.path, entry.name);
    if (marks?.isMark(entry)) {
      const name = marks.removed(path, entry, level.from);
      const there = edit.draft.get(level.to, name);
      if (there !== undefined) edit.draft.set(level.to, name, there, undefined);
      continue;
    }
    const below = place(edit, level, path, entry, mode === 'update');
    if (below !== undefined) levels.push(below);
    else if (marks && isDirectory(entry)) yield* marks.requireNone(path, entry);
  }
}

/** What has come so far becomes objects. The directories that it is in are entered anew. */
function* settle({ draft, store, writing }: Edit, levels: readonly Level[]): Generator<void, void, void> {
  yield* buildDraft(store, writing, draft);
  let to = draft.root;
  for (const [depth, level] of levels.entries()) {
    if (depth > 0) to = draft.enter(to, level.from.name) as DraftDirectory;
    level.to = to;
  }
}

/** Answers with the directory that both have. */
function place(edit: Edit, level: Level, path: ByteString, entry: Entry, replaces: boolean): Level | undefined {
  const { draft } = edit;
  const there = draft.enter(level.to, entry.name);
  if (there instanceof DraftDirectory && isDirectory(entry)) return levelOf(edit, path, there, entry);
  if (there !== undefined && !replaces && isDirectoryNode(there) !== isDirectory(entry))
    throw otherType(path, typeOf(there));
  draft.set(level.to, entry.name, there, entry);
  return undefined;
}

function levelOf({ store }: Edit, path: ByteString, to: DraftDirectory, from: DirectoryEntry): Level {
  return { path, to, from, entries: entriesOf(store, from.key) };
}

/** Those of a directory that the archive names. Last, because names that are set change its times. */
function takeAttributes({ to, from }: Level, { time }: Edit): void {
  const { mode, mtime, mtimeNs } = from;
  to.attributes = { ...to.attributes, mode, mtime, mtimeNs, ...changedAt(time) };
}

function replaceAll({ draft, head, time }: Edit, { root }: StagedTree): void {
  const { key, size, totals } = root;
  draft.replace({ ...head.root, key, size, totals, ...modifiedAt(time), ...changedAt(time) });
}

function typeOf(node: Node): 'directory' | 'symlink' | 'file' {
  if (isDirectoryNode(node)) return 'directory';
  return (node as Entry).type === TYPE.symlink ? 'symlink' : 'file';
}
