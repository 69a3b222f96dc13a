import type { FileChange, FileDiff } from '../../contract/messages.ts';
import type { Actor } from '../../field-values.ts';
import type { SandboxRecord } from '../../metadata/metadata.ts';
import { PageRoom } from '../../paging.ts';
import { threadedComparison } from '../../text-tools/differ.ts';
import type { WorkspaceChange } from '../../workspaces/workspaces.ts';
import type { SandboxContext } from '../context.ts';
import { bytesOf, ChangeSides, SIDES_DESCRIPTORS } from './change-sides.ts';
import { ownersChange, shownChange } from './shown-change.ts';
import { comparedWith, isComparedFile, undiffed } from './undiffed.ts';
import { withWorkspace } from './with-workspace.ts';

/** Bytes that are read for one answer, beside those of its last file: most have no difference to show, or are binary. */
const MAX_READ = 16 * 1024 * 1024;

/**
 * The changes with comparisons of their modified and renamed files, in the same order; the first ones, if those fill a page or
 * have MAX_READ bytes. Contents are read now: a diff has the digests of what it compares.
 */
export async function withDiffs(
  changes: readonly WorkspaceChange[],
  { id, codebase_id, owner_id }: Pick<SandboxRecord, 'id' | 'codebase_id' | 'owner_id'>,
  as: Actor | '',
  context: SandboxContext,
): Promise<FileChange[]> {
  const { descriptors, diffs, basePath } = context.platform;
  const end = await descriptors.transfers.begin(id, SIDES_DESCRIPTORS);
  let sides: ChangeSides | undefined;
  try {
    const compared = new Set(changes.filter((change) => isComparedFile(change) && !undiffed(change, as)));
    sides = await ChangeSides.open([...compared], {
      id,
      base: basePath(codebase_id),
      attached: (task) => withWorkspace(id, context, task),
    });
    const compare = threadedComparison(diffs.of(owner_id));
    const listed: FileChange[] = [];
    const asSeen = as === 'agent' ? shownChange : ownersChange;
    const room = new PageRoom();
    let read = 0;
    for (const change of changes) {
      if (room.isFull || read >= MAX_READ) break;
      const isCompared = compared.has(change);
      const undone = isComparedFile(change) ? undiffed(change, as) : undefined;
      const diff = isCompared ? await diffOf(change, sides, compare) : undone;
      read += isCompared ? change.now!.size + comparedWith(change).base!.size : 0;
      const shown = { ...asSeen(change), ...(diff && { diff }) };
      room.fits(shown);
      listed.push(shown);
    }
    return listed;
  } finally {
    await sides?.close();
    end();
  }
}

async function diffOf(
  change: WorkspaceChange,
  sides: ChangeSides,
  compare: ReturnType<typeof threadedComparison>,
): Promise<FileDiff> {
  const from = comparedWith(change);
  const [before, after] = [(await sides.base(from))!, (await sides.present(change))!];
  const compared = await compare(await bytesOf(before), await bytesOf(after));
  return { ...compared, base_mode: compared.no_hunks === '' ? from.base!.mode & 0o777 : 0 };
}
