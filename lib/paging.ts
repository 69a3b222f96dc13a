import { createHash } from 'node:crypto';
import { invalidArgument } from './errors.ts';

/** Paging parameters of a list request. */
export interface Page {
  /** Maximum number of items in the page; at least 1. */
  page_size: number;
  page_token: string;
}

/** A page of a list ends early when its items have so many bytes: an answer is encoded in one step, and held until it is read. */
const PAGE_BYTES = 1024 * 1024;

/** What one page has room for. */
export class PageRoom {
  #left = PAGE_BYTES;

  get isFull(): boolean {
    return this.#left <= 0;
  }

  /** Whether the next item belongs to the page. The first one always does. */
  fits(item: unknown): boolean {
    const isFirst = this.#left === PAGE_BYTES;
    this.#left -= weightOf(item);
    return isFirst || this.#left >= 0;
  }
}

/** The first ones of the items, as many as a page has room for. */
export function fitting<T>(items: Iterable<T>): T[] {
  const room = new PageRoom();
  const fit: T[] = [];
  for (const item of items) {
    if (!room.fits(item)) break;
    fit.push(item);
  }
  return fit;
}

/** About as many bytes as the value has in an answer. Those of a LongText are limited elsewhere. */
export function weightOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 8;
  if (value instanceof Uint8Array) return value.byteLength;
  let sum = 8;
  if (Array.isArray(value)) for (const each of value) sum += weightOf(each);
  else for (const name in value) sum += name.length + 3 + weightOf((value as Record<string, unknown>)[name]);
  return sum;
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
export function pageById<T extends { readonly id: string }, V>(
  scope: string,
  items: Iterable<T>,
  page: Page,
  shown: (item: T) => V,
): { items: V[]; next_page_token: string } {
  const cursor = cursorOf(scope, page.page_token) ?? '';
  const rest = Array.from(items)
    .filter(({ id }) => id > cursor)
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const taken = fitting(rest.slice(0, page.page_size).map(shown));
  const isLast = taken.length === rest.length;
  return { items: taken, next_page_token: isLast ? '' : tokenOf(scope, rest[taken.length - 1]!.id) };
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
export function newestPage<T extends { readonly id: string }, V>(
  scope: string,
  newestFirst: (before?: string) => Iterable<T>,
  matches: (item: T) => boolean,
  page: Page,
  shown: (item: T) => V,
): { items: V[]; next_page_token: string } {
  const items: V[] = [];
  const room = new PageRoom();
  let last = '';
  for (const item of newestFirst(cursorOf(scope, page.page_token))) {
    if (!matches(item)) continue;
    const view = items.length < page.page_size ? shown(item) : undefined;
    if (view === undefined || !room.fits(view)) return { items, next_page_token: tokenOf(scope, last) };
    items.push(view);
    last = item.id;
  }
  return { items, next_page_token: '' };
}
