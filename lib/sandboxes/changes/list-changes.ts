import { withBreaks } from '../../breaks.ts';
import { type ByteString, fromLatin1, toText } from '../../byte-string.ts';
import type { ChangeKind, FileChange, FileType } from '../../contract/messages.ts';
import type { Actor } from '../../field-values.ts';
import { cursorOf, type Page, tokenOf } from '../../paging.ts';
import { compiling, type RuleSet, VIEW } from '../../permissions/index.ts';
import type { ChangeChoice } from '../../services.ts';
import type { ChangePage, ChangeSide, WorkspaceChange } from '../../workspaces/workspaces.ts';
import type { SandboxContext } from '../context.ts';
import { selectionOf } from './selection.ts';
import { visibleChanges } from './visible-changes.ts';
import { withWorkspace } from './with-workspace.ts';

const KINDS: Readonly<Record<WorkspaceChange['kind'], ChangeKind>> = {
  added: 'CHANGE_ADDED',
  modified: 'CHANGE_MODIFIED',
  deleted: 'CHANGE_DELETED',
};

const TYPES: ReadonlyMap<number, FileType> = new Map([
  [0o100000, 'TYPE_FILE'],
  [0o040000, 'TYPE_DIRECTORY'],
  [0o120000, 'TYPE_SYMLINK'],
]);

/** Names that are not UTF-8 are shown with U+FFFD; the page token keeps the exact bytes. */
export async function listChanges(
  id: string,
  page: Page,
  choice: ChangeChoice & { as: Actor | '' },
  context: SandboxContext,
): Promise<{ changes: FileChange[]; next_page_token: string }> {
  const limit = page.page_size;
  const selection = await selectionOf(choice);
  const scope = JSON.stringify(['changes', id]);
  const after = fromLatin1(cursorOf(scope, page.page_token) ?? '');
  const { changes, more } = await withWorkspace(id, context, async (mount, { record }) => {
    const pageAfter = (path: ByteString, size: number) => mount.changes(id, path, size, { selection, withLeft: false });
    if (choice.as !== 'agent') return pageAfter(after, limit);
    return agentPage(pageAfter, await withBreaks(compiling(record.permissions)), after, limit);
  });
  const last = changes.at(-1);
  const shown = changes.filter(({ hidden }) => !hidden);
  return { changes: shown.map(shownChange), next_page_token: more && last ? tokenOf(scope, last.path) : '' };
}

/**
 * A page of the changes that the agent sees. It is shorter than `limit` only at the end, and the token of the next page
 * has a visible path: neither shows that there are hidden changes.
 */
async function agentPage(
  pageAfter: (path: ByteString, size: number) => Promise<ChangePage>,
  rules: RuleSet,
  after: ByteString,
  limit: number,
): Promise<ChangePage> {
  const visible: WorkspaceChange[] = [];
  let from = after;
  for (let more = true; more && visible.length <= limit; ) {
    const page = await pageAfter(from, limit + 1);
    visible.push(...visibleChanges(page.changes, VIEW, rules));
    from = page.changes.at(-1)?.path ?? from;
    more = page.more;
  }
  return { changes: visible.slice(0, limit), more: visible.length > limit };
}

/** A change in the form of the API: sizes in bytes, modes without type bits, 0 for a side that is absent. */
export function shownChange({
  path,
  kind,
  contentChanged,
  now,
  base,
  renamedFrom,
  conflict,
  scratch = false,
}: WorkspaceChange): FileChange {
  const [present, codebase] = [now ?? base, base ?? now];
  return {
    path: toText(path),
    kind: KINDS[kind],
    type: typeOf(present),
    size: now?.size ?? 0,
    base_size: base?.size ?? 0,
    mode: (now?.mode ?? 0) & 0o777,
    base_mode: (base?.mode ?? 0) & 0o777,
    base_type: typeOf(codebase),
    content_changed: contentChanged,
    conflict,
    scratch,
    renamed_from: renamedFrom === undefined ? '' : toText(renamedFrom),
  };
}

/** The file type of one side of a change; TYPE_OTHER if there is none. */
export function typeOf(side: ChangeSide | undefined): FileType {
  return TYPES.get((side?.mode ?? 0) & 0o170000) ?? 'TYPE_OTHER';
}
