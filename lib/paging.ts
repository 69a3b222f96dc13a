import { invalidArgument } from './errors.ts';

/** A page of a list, as a request asks for it. */
export interface Page {
  /** Most items of the page; at least 1. */
  page_size: number;
  page_token: string;
}

/**
 * An opaque token for "go on behind `cursor`". `scope` names the listing and its filters: a token is only good for the
 * listing it came from. Well-formed strings only.
 */
export function tokenOf(scope: string, cursor: string): string {
  return Buffer.from(JSON.stringify([scope, cursor])).toString('base64url');
}

/** The cursor in `token`; undefined for '' (the start). Throws INVALID_ARGUMENT for what `tokenOf(scope, …)` never made. */
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

/** One page of `items` in order of id. Items that come and go between two pages make no other be missed or repeated. */
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
