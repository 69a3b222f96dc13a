import { withBreaks } from '../../breaks.ts';
import { type ByteString, fromLatin1 } from '../../byte-string.ts';
import type { FileChange } from '../../contract/messages.ts';
import { invalidArgument } from '../../errors.ts';
import type { Actor } from '../../field-values.ts';
import { cursorOf, fitting, type Page, tokenOf } from '../../paging.ts';
import { compiling, type RuleSet, VIEW } from '../../permissions/index.ts';
import type { ChangeChoice } from '../../services.ts';
import type { ChangePage, WorkspaceChange } from '../../workspaces/workspaces.ts';
import type { SandboxContext } from '../context.ts';
import { selectionOf } from './selection.ts';
import { ownersChange, shownChange } from './shown-change.ts';
import { visibleChanges } from './visible-changes.ts';
import { withDiffs } from './with-diffs.ts';
import { withLocal } from './with-local.ts';
import { withWorkspace } from './with-workspace.ts';

/** Names that are not UTF-8 are shown with U+FFFD; the page token keeps the exact bytes. */
export async function listChanges(
  id: string,
  page: Page,
  { diff = false, local = false, ...choice }: ChangeChoice & { as: Actor | ''; diff?: boolean; local?: boolean },
  context: SandboxContext,
): Promise<{ changes: FileChange[]; next_page_token: string }> {
  // Digests would show what the rules hide.
  if (local && choice.as === 'agent') throw invalidArgument('local', 'must not be set with the view "agent"');
  const limit = page.page_size;
  const selection = await selectionOf(choice);
  const scope = JSON.stringify(['changes', id]);
  const after = fromLatin1(cursorOf(scope, page.page_token) ?? '');
  const { changes, more, record } = await withWorkspace(id, context, async (mount, { record }) => {
    const pageAfter = (path: ByteString, size: number) => mount.changes(id, path, size, { selection, withLeft: false });
    if (choice.as !== 'agent') return { ...(await pageAfter(after, limit)), record };
    return { ...(await agentPage(pageAfter, await withBreaks(compiling(record.permissions)), after, limit)), record };
  });
  const shown = changes.filter(({ hidden }) => !hidden);
  const fit = diff
    ? await withDiffs(shown, record, choice.as, context)
    : fitting(shown.map(choice.as === 'agent' ? shownChange : ownersChange));
  const listed = local ? await withLocal(fit, shown, record, context) : fit;
  const isCut = listed.length < shown.length;
  const last = isCut ? shown[listed.length - 1] : changes.at(-1);
  return { changes: listed, next_page_token: (more || isCut) && last ? tokenOf(scope, last.path) : '' };
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
