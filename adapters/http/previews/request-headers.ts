import type { IncomingMessage } from 'node:http';
import { hideKeys } from '../../../lib/access/key-format.ts';
import { hasLinkToken } from '../../../lib/network/ports/link-token.ts';
import { isSameHost } from '../../host-name.ts';
import { addField, endToEnd, type Fields } from './fields.ts';
import type { PreviewTarget } from './target.ts';
import { COOKIE_PREFIX, cookiesOf, LINK_COOKIES, takeToken } from './token.ts';

/** Set here, or by Node. */
const REPLACED: ReadonlySet<string> = new Set(['host', 'expect', 'content-length', 'forwarded', 'x-real-ip', 'cookie']);

/**
 * The header fields for the program in the sandbox. The threat: it is hostile, and must learn nothing that opens
 * anything: no key of the client, no link token, no cookie that is not its own. Its Host is `localhost`, which
 * development servers check; that of the client is in X-Forwarded-Host, which no client sets itself.
 */
export function requestHeaders(req: IncomingMessage, target: PreviewTarget, isTls: boolean): Fields {
  const fields: Fields = Object.create(null);
  const { headers, rawHeaders, socket } = req;
  const own = `localhost:${target.port}`;
  for (const [name, value] of endToEnd(rawHeaders, headers.connection)) {
    if (REPLACED.has(name) || name.startsWith('x-forwarded-') || hideKeys(value) !== value) continue;
    const shown = shownValue(name, value, own, req, target);
    if (shown !== undefined && !hasLinkToken(shown)) addField(fields, name, shown);
  }
  const cookies = cookiesFor(headers.cookie ?? '', target);
  if (cookies !== '') fields.cookie = cookies;
  fields.host = own;
  // The length of the body as this server has read it: never a field that could be doubted.
  if (headers['transfer-encoding'] !== undefined) fields['transfer-encoding'] = 'chunked';
  else if (headers['content-length'] !== undefined) fields['content-length'] = headers['content-length'];
  fields['x-forwarded-for'] = socket.remoteAddress ?? '';
  fields['x-forwarded-proto'] = isTls ? 'https' : 'http';
  if (headers.host !== undefined) fields['x-forwarded-host'] = headers.host;
  if (target.prefix !== '') fields['x-forwarded-prefix'] = target.prefix;
  return fields;
}

/** undefined: the field is left out. */
function shownValue(
  name: string,
  value: string,
  own: string,
  { headers: { host = '' } }: IncomingMessage,
  { prefix }: PreviewTarget,
): string | undefined {
  if (name !== 'origin' && name !== 'referer') return value;
  if (!URL.canParse(value)) return name === 'origin' ? value : undefined;
  const url = new URL(value);
  const isOwn = isSameHost(url.host, host) && url.host === new URL(`${url.protocol}//${host}`).host;
  // Development servers compare it with their Host.
  if (name === 'origin') return isOwn ? `http://${own}` : value;
  const { query } = takeToken(url.search.slice(1));
  const search = query === '' ? '' : `?${query}`;
  if (!isOwn) return `${url.origin}${url.pathname}${search}`;
  // Another page of the service is none of its business.
  if (!url.pathname.startsWith(`${prefix}/`)) return undefined;
  return `http://${own}${url.pathname.slice(prefix.length)}${search}`;
}

/**
 * The cookies that the program has set. By host name all cookies but the link token's are its own. By path the client sends
 * those of all servers on this host, also on other ports: only names that were given out here are passed, without the
 * prefix that they got. A cookie with a link token in its text is never passed: programs divide the header otherwise than
 * this server does, by commas and quotes.
 */
function cookiesFor(header: string, { door }: PreviewTarget): string {
  const isOurs = (text: string) => hideKeys(text) !== text || hasLinkToken(text);
  const cookies = cookiesOf(header).filter(({ name, text }) => !LINK_COOKIES.has(name) && !isOurs(text));
  if (door === 'host') return cookies.map(({ text }) => text).join('; ');
  const given = cookies.filter(({ name }) => name.startsWith(COOKIE_PREFIX));
  return given.map(({ name, value }) => `${name.slice(COOKIE_PREFIX.length)}=${value}`).join('; ');
}
