import type { FileChange } from 'paddock-sandbox';
import type { Output } from '../output/output.ts';
import { quotedName } from '../output/printable.ts';
import { changeLine, counted, reviewLine, runMark } from './changes.ts';

/** What a review asks one question for: a file, a rename, or a directory with everything below. */
export interface Item {
  kind: 'modified' | 'renamed' | 'other' | 'added' | 'new directory' | 'deleted' | 'deleted directory';
  /** Of the path that stands for it. */
  change: FileChange;
  /** All changes that are taken with it, its own among them. */
  changes: readonly FileChange[];
}

/** Modified files are read most closely, so they come first. */
const ORDER: readonly Item['kind'][] = [
  'modified',
  'renamed',
  'other',
  'added',
  'new directory',
  'deleted',
  'deleted directory',
];

/** The changes as few items, in the order of a review. The time grows with the names of all paths. */
export function itemsOf(changes: readonly FileChange[]): Item[] {
  const byPath = new Map(changes.map((change) => [change.path, change]));
  const at = (path: string) => byPath.get(path);
  const newPaths = new Map<string, string>();
  const renameAt = (path: string) => highest(path, (each) => isRename(at(each), byPath));
  const isAlone = (change: FileChange, top: string) => !cameAlong(change, at(top)!);
  for (const change of changes) {
    const top = renameAt(change.path);
    if (top === change.path || (top && isRename(change, byPath) && isAlone(change, top)))
      newPaths.set(change.renamedFrom, change.path);
  }
  const groups = new Map<string, FileChange[]>();
  for (const change of changes) {
    const { path, kind } = change;
    const old = newPaths.has(path) ? path : highest(path, (each) => newPaths.has(each));
    const from = kind === 'deleted' ? old : undefined;
    const isSame = (each: string) => at(each)?.kind === kind && kind !== 'modified' && !isRename(at(each), byPath);
    const renamed = renameAt(path);
    const moved = renamed !== undefined && isAlone(change, renamed) ? path : renamed;
    const top = moved ?? (from && newPaths.get(from)) ?? highest(path, isSame) ?? path;
    const group = groups.get(top);
    if (group) group.push(change);
    else groups.set(top, [change]);
  }
  const items = [...groups].map(([path, all]) => ({
    kind: kindOf(at(path)!, byPath),
    change: at(path)!,
    changes: all,
  }));
  return items.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind) || compare(a.change.path, b.change.path));
}

/** Whether a change below a renamed directory is no more than that. What is new or was written is read by itself. */
function cameAlong(change: FileChange, top: FileChange): boolean {
  const { path, renamedFrom, type } = change;
  if (path === top.path) return true;
  if (renamedFrom !== top.renamedFrom + path.slice(top.path.length)) return false;
  return type === 'directory' || change.cameAlong;
}

/** The highest of a path and the directories above it for which this holds. */
function highest(path: string, holds: (path: string) => boolean): string | undefined {
  for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) {
    const above = path.slice(0, end);
    if (holds(above)) return above;
  }
  return holds(path) ? path : undefined;
}

function kindOf(change: FileChange, byPath: ReadonlyMap<string, FileChange>): Item['kind'] {
  const isDirectory = change.type === 'directory';
  if (isRename(change, byPath)) return 'renamed';
  if (change.kind === 'added') return isDirectory ? 'new directory' : 'added';
  if (change.kind === 'deleted') return isDirectory ? 'deleted directory' : 'deleted';
  return isText(change) ? 'modified' : 'other';
}

/** The items of a directory, one level below. */
export const itemsIn = ({ change, changes }: Item): Item[] => itemsOf(changes.filter((each) => each !== change));

const isDirectoryItem = ({ kind }: Item): boolean => kind === 'new directory' || kind === 'deleted directory';

/** Whether its parts can be decided one by one. */
export const canOpen = (item: Item): boolean => isDirectoryItem(item) && item.changes.length > 1;

/** Whether its hunks can be chosen, if it is text. */
export const mayHaveHunks = ({ kind, change }: Item): boolean =>
  kind === 'modified' || (kind === 'renamed' && change.type === 'file');

/** Whether a review shows its contents: a renamed file may have others than before. */
export const hasContents = ({ kind, change }: Item): boolean =>
  kind === 'modified' || kind === 'added' || (kind === 'renamed' && change.type !== 'directory');

const isText = ({ contentChanged, type, baseType }: FileChange): boolean =>
  contentChanged && type === 'file' && baseType === 'file';

const isRename = (change: FileChange | undefined, byPath: ReadonlyMap<string, FileChange>): boolean =>
  change?.kind === 'added' && change.renamedFrom !== '' && byPath.get(change.renamedFrom)?.kind === 'deleted';

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** "A node_modules/ (731 files)" */
export function itemLine(item: Item, paint: Output['paint']): string {
  const { kind, change, changes } = item;
  if (kind === 'renamed') {
    const slash = change.type === 'directory' ? '/' : '';
    const files = slash === '' ? '' : filesIn(changes.filter((each) => each.kind !== 'deleted'));
    const conflict = changes.some((each) => each.conflict) ? ' (conflict)' : '';
    const names = `${quotedName(change.renamedFrom)}${slash} → ${quotedName(change.path)}${slash}`;
    return `${paint.yellow('R')} ${names}${files}${conflict}${runMark(change, paint)}`;
  }
  if (isDirectoryItem(item)) return `${changeLine({ ...change, renamedFrom: '' }, paint)}${filesIn(changes)}`;
  return reviewLine(change, paint);
}

const filesIn = (changes: readonly FileChange[]): string => {
  const files = changes.filter(({ type }) => type !== 'directory').length;
  return files === 0 ? '' : ` (${counted(files, 'file')})`;
};
