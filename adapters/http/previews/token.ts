import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Door } from '../../../lib/port-services.ts';
import { type PreviewTarget, pathBelow } from './target.ts';

const PARAMETER = 'paddock_token';
const COOKIE = 'paddock_link';
/** Browsers accept it only over TLS, for this one host: no other host of the same domain can set it. */
const HOST_COOKIE = `__Host-${COOKIE}`;
/** Of the names of cookies that programs set by path. */
export const COOKIE_PREFIX = 'paddock_in_';
/** Tokens of one request that are looked at. */
const MAX_TOKENS = 8;

/** Names of the cookies that carry link tokens. */
export const LINK_COOKIES: ReadonlySet<string> = new Set([COOKIE, HOST_COOKIE]);

/** The link token in a query, and the query without it. */
export function takeToken(query: string): { token: string | undefined; query: string } {
  let token: string | undefined;
  const left = query.split('&').filter((part) => {
    const [[name, value] = ['', '']] = new URLSearchParams(part);
    if (name !== PARAMETER) return true;
    token ??= value;
    return false;
  });
  return { token, query: left.join('&') };
}

/** The link tokens in the cookies of a request. Another host of the domain may have added some. */
export function tokensOf({ headers: { cookie = '' } }: Pick<IncomingMessage, 'headers'>): string[] {
  return cookiesOf(cookie)
    .filter(({ name }) => LINK_COOKIES.has(name))
    .slice(0, MAX_TOKENS)
    .map(({ value }) => value);
}

/** The cookies of a header, with their text as it was sent. */
export function cookiesOf(header: string): { name: string; value: string; text: string }[] {
  return header.split(';').flatMap((part) => {
    const text = part.trim();
    const equals = text.indexOf('=');
    if (text === '') return [];
    return [{ name: equals < 0 ? '' : text.slice(0, equals).trim(), value: text.slice(equals + 1).trim(), text }];
  });
}

/**
 * Whether a browser opens a page with the link token in its URL: it gets a cookie, and the URL without the token. Programs
 * that send the token with each request are answered at once.
 */
export function isPageLoad({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const mode = headers['sec-fetch-mode'];
  return mode === undefined ? /\btext\/html\b/.test(headers.accept ?? '') : mode === 'navigate';
}

/** Answers a page load with the cookie, and sends the browser to the URL without the token. */
export function answerWithCookie(
  res: ServerResponse,
  { door, prefix, path, query }: PreviewTarget,
  token: string,
  { expires_at }: Pick<Door, 'expires_at'>,
  { isTls, now }: { isTls: boolean; now: number },
): void {
  const name = door === 'host' && isTls ? HOST_COOKIE : COOKIE;
  const attributes = [
    `${name}=${token}`,
    `Path=${prefix}/`,
    'HttpOnly',
    'SameSite=Lax',
    ...(isTls ? ['Secure'] : []),
    ...(expires_at === 0 ? [] : [`Max-Age=${Math.max(expires_at - Math.floor(now / 1000), 0)}`]),
  ];
  const location = `${pathBelow(prefix, path)}${query === '' ? '' : `?${query}`}`;
  res.writeHead(303, {
    'set-cookie': attributes.join('; '),
    location,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'content-length': 0,
  });
  res.end();
}
