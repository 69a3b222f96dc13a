import { createHash } from 'node:crypto';
import type { ChosenHunks, FileChange, Sandbox } from 'paddock-sandbox';
import {
  isWithin,
  once,
  Place,
  type Pulled,
  type PullOptions,
  partsOf,
  refusalFor,
  shown,
  Tree,
  untar,
} from 'paddock-sandbox/local';
import { mergeTexts } from './merge.ts';

export interface Brought extends Pulled {
  /** Paths with the lines of both sides. */
  merged: string[];
}

/**
 * Brings changes of a sandbox to the local directory that it was made from. Of text that was edited here, too, the lines
 * of both are merged if no line was changed by both; otherwise it is a conflict, and stays as it is here.
 */
export async function bring(sandbox: Sandbox, directory: string, options: PullOptions): Promise<Brought> {
  const pulled = await sandbox.pull(directory, options);
  const merged: string[] = [];
  const failed = [...pulled.failed];
  if (options.onConflict !== 'replace' && pulled.conflicts.length > 0) {
    const { signal } = options;
    const listed = await sandbox.changes({ signal, local: true });
    const changes = new Map(listed.map((change) => [change.path, change]));
    const here = new Set([...pulled.applied, ...pulled.unchanged]);
    // What was here in the codebase, and has another name there, would be nowhere here.
    const isMissing = (path: string) => {
      const names = listed.filter(({ renamedFrom }) => renamedFrom === path);
      return names.length > 0 && !names.some((each) => here.has(each.path));
    };
    for (const path of pulled.conflicts) {
      const change = changes.get(path);
      const hunks = options.hunks?.filter((each) => each.path === path) ?? [];
      try {
        if (
          change &&
          !isMissing(path) &&
          mayMerge(change, options) &&
          (await mergeFile(sandbox, { directory, change, hunks }, options))
        )
          merged.push(path);
      } catch (error) {
        // Of the local file system: the other paths go on.
        if ((error as { syscall?: string }).syscall === undefined) throw error;
        failed.push({ path, error: shown(error as Error) });
      }
    }
  }
  const done = new Set([...merged, ...failed.map(({ path }) => path)]);
  return { ...pulled, failed, conflicts: pulled.conflicts.filter((path) => !done.has(path)), merged };
}

/** What changed since the pull was decided may come no more: it would lose values, or be run on sight. */
function mayMerge(
  { path, local, losesValues }: FileChange,
  { paths = [], allow = [], git = false }: PullOptions,
): boolean {
  if (local === undefined) return false;
  const { refusal } = local;
  // For lost values, it does not suffice to choose the path.
  const named = losesValues || !refusal?.allow ? [] : paths.filter((each) => isWithin(each, refusal.allow));
  return refusalFor(path, refusal, { git, allow: [...allow, ...named] }) === undefined;
}

interface Target {
  directory: string;
  change: FileChange;
  /** Of which only these come; none: all of it. */
  hunks: readonly ChosenHunks[];
}

/** Whether it could be merged. */
async function mergeFile(
  sandbox: Sandbox,
  { directory, change, hunks }: Target,
  options: PullOptions,
): Promise<boolean> {
  const { path, kind, type, baseType, renamedFrom } = change;
  // The lines of what was renamed to here belong to another name there.
  const isText = kind === 'modified' && renamedFrom === '' && type === 'file' && baseType === 'file';
  if (!isText || change.size > MOST_BYTES || change.baseSize > MOST_BYTES) return false;
  const tree = new Tree(directory);
  try {
    return (await Place.use(tree, path, (place) => mergeAt(place, sandbox, { change, hunks }, options))) ?? false;
  } finally {
    tree.close();
  }
}

async function mergeAt(
  place: Place,
  sandbox: Sandbox,
  { change: { path, mode, baseMode, local }, hunks }: Omit<Target, 'directory'>,
  { signal, dryRun }: PullOptions,
): Promise<boolean> {
  const now = await place.look();
  if (now.found?.type !== 'file') return false;
  const { codebaseId } = sandbox.info;
  const base = await sandbox.api.downloadFile({ codebaseId, filePath: path }, { signal, whole: true });
  const parts = await partsOf(hunks, { api: sandbox.api, sandboxId: sandbox.id, codebaseId, signal });
  const theirs = (await parts.get(path)?.content()) ?? (await readChanged(sandbox, path, signal));
  // What was judged is merged, not what it became since.
  if (theirs === undefined || (hunks.length === 0 && sha256(theirs) !== local?.sha256)) return false;
  const ours = await readLocal(place);
  const merged = ours && mergeTexts(new Uint8Array(await base.arrayBuffer()), ours, theirs);
  if (merged === undefined) return false;
  if (dryRun) return true;
  // The execute bit of the side that changed it.
  const changesMode = hunks.length === 0 && ((mode ^ baseMode) & 0o100) !== 0;
  const executable = changesMode ? (mode & 0o100) !== 0 : now.found.executable;
  // What was read here is still there: not edited since.
  return place.write(once(merged), { executable }, () => place.isStill(now));
}

/** The file as a commit would store it: with values in place of the placeholders that the sandbox has. */
async function readChanged(
  sandbox: Sandbox,
  path: string,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  const archive = await sandbox.api.exportChanges({ paths: [path], sandboxId: sandbox.id, format: 'tar' }, { signal });
  for await (const member of untar(archive.body as ReadableStream<Uint8Array>)) {
    if (member.path !== path || member.size > MOST_BYTES) continue;
    const parts: Uint8Array[] = [];
    for await (const part of member.content) parts.push(part);
    return Buffer.concat(parts);
  }
  return undefined;
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const MOST_BYTES = 1024 * 1024;

/** undefined: it is larger. */
async function readLocal(place: Place): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of place.read()) {
    size += piece.length;
    if (size > MOST_BYTES) return undefined;
    pieces.push(Uint8Array.from(piece));
  }
  return Buffer.concat(pieces);
}
