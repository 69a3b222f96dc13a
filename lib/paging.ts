import { createHash } from 'node:crypto';
import { invalidArgument } from './errors.ts';

/** Paging parameters of a list request. */
export interface Page {
  /** Maximum number of items in the page; at least 1. */
  page_size: number;
  page_token: string;
}

/**
 * Returns an opaque token that continues the listing after `cursor`. `scope` names the listing and its filters; a token
 * is valid for its own listing only. Both must be well-formed strings.
 */
export function tokenOf(scope: string, cursor: string): string {
  return Buffer.from(JSON.stringify([scope, cursor])).toString('base64url');
}

/**
 * Returns the cursor in `token`, or undefined for '' (the start). Throws INVALID_ARGUMENT for any value that
 * `tokenOf(scope, …)` did not return.
 */
export function cursorOf(scope: string, token: string): string | undefined {
  if (token === '') return undefined;
  const cursor = parse(scope, token);
  if (cursor === undefined || tokenOf(scope, cursor) !== token) {
    throw invalidArgument('page_token', 'must be the next_page_token of the same listing, or empty');
  }
  return cursor;
}

function parse(scope: string, token: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    return Array.isArray(parsed) && parsed[0] === scope && typeof parsed[1] === 'string' ? parsed[1] : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns one page of `items` in order of id. Items added or removed between two pages do not cause others to be missed
 * or repeated.
 */
export function pageById<T extends { readonly id: string }>(
  scope: string,
  items: Iterable<T>,
  page: Page,
): { items: T[]; next_page_token: string } {
  const size = page.page_size;
  const cursor = cursorOf(scope, page.page_token) ?? '';
  const rest = Array.from(items)
    .filter(({ id }) => id > cursor)
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const taken = rest.slice(0, size);
  const last = taken.at(-1);
  return { items: taken, next_page_token: rest.length > size && last ? tokenOf(scope, last.id) : '' };
}

/** The scope of a listing with filters, whose length does not depend on theirs. */
export function scopeOf(listing: string, filters: readonly unknown[]): string {
  return `${listing} ${createHash('sha256').update(JSON.stringify(filters)).digest('base64url')}`;
}

/**
 * Returns one page of the items that match, from the newest to the oldest. Items added or removed between two pages do
 * not cause others to be missed or repeated: those added later are newer than every page but the first. `newestFirst`
 * returns the items older than an id. All pages together read each item once or twice.
 */
export function newestPage<T extends { readonly id: string }>(
  scope: string,
  newestFirst: (before?: string) => Iterable<T>,
  matches: (item: T) => boolean,
  page: Page,
): { items: T[]; next_page_token: string } {
  const items: T[] = [];
  for (const item of newestFirst(cursorOf(scope, page.page_token))) {
    if (!matches(item)) continue;
    if (items.length === page.page_size) return { items, next_page_token: tokenOf(scope, items.at(-1)!.id) };
    items.push(item);
  }
  return { items, next_page_token: '' };
}
