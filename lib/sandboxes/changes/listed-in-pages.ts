import { type ByteString, ROOT_PATH } from '../../byte-string.ts';
import type { Subtrees } from '../../subtrees.ts';
import type { ChangePage, OwnDirectory, WorkspaceChange } from '../../workspaces/workspaces.ts';

/** Changes in the first pages. */
const FIRST = 256;
/** Later ones have this part of the changes before them. */
const GROWTH = 1 / 4;

/** Changes, and the sandbox's own directories in the same state: one that is made in between has no change with its id. */
export interface Listed {
  listed: WorkspaceChange[];
  own: OwnDirectory[];
}

/** What is done with changes before all are known. */
export interface Ahead {
  /** Gets the chosen ones, page after page. */
  take: (changes: readonly WorkspaceChange[]) => Promise<void>;
  /** Whether the sandbox has changed nothing since the listing began. */
  isAsBefore: () => boolean;
}

/**
 * Lists all changes in pages, and passes each but the last on while the next one is listed. Pages grow: to find the place of
 * one takes as long as the names in a directory are many. The first has the sandbox's own directories. Returns undefined if
 * the sandbox changed something meanwhile, as the pages are then no state that it was in.
 */
export async function listedInPages(
  list: (after: ByteString, limit: number) => Promise<ChangePage>,
  chosen: Pick<Subtrees, 'has'>,
  { take, isAsBefore }: Ahead,
): Promise<Listed | undefined> {
  const all: WorkspaceChange[] = [];
  let own: OwnDirectory[] = [];
  let asked = list(ROOT_PATH, FIRST);
  for (;;) {
    const { changes, more, own: first } = await asked;
    if (first !== undefined) own = first;
    for (const change of changes) all.push(change);
    const isOnly = !more && changes.length === all.length;
    if (!isOnly && !isAsBefore()) return undefined;
    if (!more) return { listed: all, own };
    asked = list(all.at(-1)!.path, Math.max(FIRST, Math.ceil(all.length * GROWTH)));
    // A failure is thrown when the page is awaited.
    asked.catch(() => undefined);
    await take(changes.filter(({ path }) => chosen.has(path)));
  }
}
