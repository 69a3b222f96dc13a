import { localRefusal } from '../../../local-refusals/local-refusal.ts';
import { toText } from '../../byte-string.ts';
import type { FileChange, FileType, LocalChange } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import type { SandboxRecord } from '../../metadata/metadata.ts';
import { PageRoom } from '../../paging.ts';
import { threadedDigest } from '../../text-tools/differ.ts';
import type { WorkspaceChange } from '../../workspaces/workspaces.ts';
import type { SandboxContext } from '../context.ts';
import { bytesOf, ChangeSides, SIDES_DESCRIPTORS } from './change-sides.ts';
import { typeOf } from './shown-change.ts';
import { withWorkspace } from './with-workspace.ts';

/** Bytes that are read for one answer, beside those of its last file. */
const MAX_READ = 256 * 1024 * 1024;

/**
 * Adds what decides whether a change comes to a local directory to the first of the listed changes, which are those of
 * `changes`, in the same order; to as many as MAX_READ and a page permit. Contents are read now.
 */
export async function withLocal(
  listed: readonly FileChange[],
  changes: readonly WorkspaceChange[],
  { id, codebase_id, owner_id }: Pick<SandboxRecord, 'id' | 'codebase_id' | 'owner_id'>,
  context: SandboxContext,
): Promise<FileChange[]> {
  const { descriptors, diffs, basePath } = context.platform;
  const end = await descriptors.transfers.begin(id, SIDES_DESCRIPTORS);
  let sides: ChangeSides | undefined;
  try {
    const attached = <T>(task: Parameters<typeof withWorkspace<T>>[2]) => withWorkspace<T>(id, context, task);
    const files = changes.slice(0, listed.length).filter(({ now }) => typeOf(now) === 'TYPE_FILE');
    sides = await ChangeSides.open(files, { id, base: basePath(codebase_id), attached });
    const digest = threadedDigest(diffs.of(owner_id));
    const found: FileChange[] = [];
    const room = new PageRoom();
    let read = 0;
    for (const [index, shown] of listed.entries()) {
      if (read >= MAX_READ) break;
      const change = changes[index]!;
      const item = { ...shown, local: await localOf(change, shown.loses_values, sides, digest) };
      if (!room.fits(item)) break;
      found.push(item);
      for (const side of [change.now, change.base]) read += typeOf(side) === 'TYPE_FILE' ? side!.size : 0;
    }
    return found;
  } finally {
    await sides?.close();
    end();
  }
}

async function localOf(
  change: WorkspaceChange,
  losesValues: boolean,
  sides: ChangeSides,
  digest: ReturnType<typeof threadedDigest>,
): Promise<LocalChange> {
  const { now, base, conflict, kind, path } = change;
  const isLink = typeOf(now) === 'TYPE_SYMLINK';
  const target = isLink && now?.target !== undefined ? toText(now.target) : '';
  const isBaseLink = typeOf(base) === 'TYPE_SYMLINK' && !conflict;
  const isRemoved = kind === 'deleted';
  const type = LOCAL_TYPES[typeOf(now ?? base)] ?? 'file';
  const refusal = localRefusal({ path: toText(path), type, target, isRemoved, losesValues });
  return {
    sha256: await digestOf('now', change, sides, digest),
    base_sha256: conflict ? '' : await digestOf('base', change, sides, digest),
    link_target: target,
    base_link_target: isBaseLink ? Buffer.from(await bytesOf((await sides.base(change))!)).toString() : '',
    ...(refusal && { refusal }),
  };
}

const LOCAL_TYPES: Readonly<Partial<Record<FileType, 'directory' | 'symlink'>>> = {
  TYPE_DIRECTORY: 'directory',
  TYPE_SYMLINK: 'symlink',
};

/** Empty for what is no file, is written to meanwhile, or is not read for its holes. */
async function digestOf(
  side: 'now' | 'base',
  change: WorkspaceChange,
  sides: ChangeSides,
  digest: ReturnType<typeof threadedDigest>,
): Promise<string> {
  if (typeOf(change[side]) !== 'TYPE_FILE') return '';
  try {
    const read = side === 'now' ? await sides.present(change) : await sides.base(change);
    if (read === undefined || read.isLeftOut) return '';
    return await digest(
      () => bytesOf(read),
      change[side]!.size,
      (use) => sides.opened(side, change, use),
    );
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'ABORTED') return '';
    throw error;
  }
}
