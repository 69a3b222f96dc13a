import type { Sandbox } from '../contract/messages.ts';
import { newestPage, type Page, scopeOf } from '../paging.ts';
import type { SandboxFilter } from '../services.ts';
import type { SandboxContext } from './context.ts';
import type { LiveSandbox } from './sandbox.ts';

/** A page of the sandboxes that match every part of the filter, the newest first. */
export function listSandboxes(
  { codebase_id, owner_id = '', status, labels = {}, ...page }: SandboxFilter & Page,
  { sandboxes }: Pick<SandboxContext, 'sandboxes'>,
): { sandboxes: Sandbox[]; next_page_token: string } {
  const wanted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  const matches = ({ record, status: present }: LiveSandbox) =>
    (codebase_id === '' || record.codebase_id === codebase_id) &&
    (owner_id === '' || record.owner_id === owner_id) &&
    (status === undefined || present === status) &&
    wanted.every(([key, value]) => Object.hasOwn(record.labels, key) && record.labels[key] === value);
  const filter = { codebase_id, owner_id, ...(status !== undefined && { status }), labels };
  const candidates = (before?: string) => sandboxes.candidates(filter, before);
  const scope = scopeOf('sandboxes', [codebase_id, owner_id, status, wanted]);
  const { items, next_page_token } = newestPage(scope, candidates, matches, page, (sandbox) => sandbox.view());
  return { sandboxes: items, next_page_token };
}
