import type { IncomingMessage } from 'node:http';
import { addField, endToEnd, type Fields } from './fields.ts';
import { type PreviewTarget, pathBelow } from './target.ts';
import { COOKIE_PREFIX, LINK_COOKIES } from './token.ts';

/** Fields that are about the whole host, its transport or other pages of it: not for a program in a sandbox to say. */
const OF_THE_HOST: ReadonlySet<string> = new Set([
  'alt-svc',
  'clear-site-data',
  'nel',
  'public-key-pins',
  'report-to',
  'reporting-endpoints',
  'service-worker-allowed',
  'strict-transport-security',
]);

/**
 * By path, pages are in the origin of the service: a script in them could call it, and read the previews of other ports that
 * the browser has cookies for. This gives each of them an origin of its own, which nothing belongs to.
 */
const OPAQUE_ORIGIN = 'sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts';

/** By path a browser would show the program's prompt as that of the service, and send it the password at other paths. */
const CHALLENGE = 'www-authenticate';

/** The header fields for the client. The threat: a hostile program in the sandbox; see the constants. */
export function responseHeaders(answer: IncomingMessage, target: PreviewTarget): Fields {
  const fields: Fields = Object.create(null);
  for (const [name, value] of endToEnd(answer.rawHeaders, answer.headers.connection)) {
    if (OF_THE_HOST.has(name) || (target.door === 'path' && name === CHALLENGE)) continue;
    const shown = shownValue(name, value, target);
    if (shown !== undefined) addField(fields, name, shown);
  }
  if (target.door === 'path') addField(fields, 'content-security-policy', OPAQUE_ORIGIN);
  // Caches between must not answer others with it.
  fields['cache-control'] = privately([fields['cache-control'] ?? ''].flat().join(','));
  return fields;
}

function shownValue(name: string, value: string, target: PreviewTarget): string | undefined {
  if (name === 'location' || name === 'content-location') return locationFor(value, target);
  return name === 'set-cookie' ? cookieFor(value, target) : value;
}

/** For browsers the same as two slashes, and for programs a path of their own. */
const MEANS_HOST = /^(?:\\|\/[\\\0-\x20])/;

/** A URL of the program's own host as one of the client's. */
function locationFor(value: string, { port, prefix }: PreviewTarget): string {
  const own = new RegExp(`^https?://(?:localhost|127\\.0\\.0\\.1|\\[::1\\]):${port}(?=[/?#]|$)`, 'i').exec(value)?.[0];
  if (own !== undefined) return pathBelow(prefix, value.slice(own.length));
  if (MEANS_HOST.test(value)) return pathBelow(prefix, value);
  return value.startsWith('/') && !value.startsWith('//') ? `${prefix}${value}` : value;
}

/**
 * A cookie of the program for this port only. Without the Domain: other hosts of the domain are other sandboxes. By path
 * with a prefix for its name and its path, because all servers of this host have their cookies in common.
 */
function cookieFor(value: string, { door, prefix }: PreviewTarget): string | undefined {
  const [pair = '', ...attributes] = value.split(';');
  const name = pair.slice(0, Math.max(pair.indexOf('='), 0)).trim();
  if (name === '' || LINK_COOKIES.has(name)) return undefined;
  const kept = attributes.filter((each) => !/^\s*domain\s*(=|$)/i.test(each));
  if (door === 'host') return [pair, ...kept].join(';');
  const path = kept.map((each) => /^\s*path\s*=\s*(\/\S*)\s*$/i.exec(each)?.[1]).findLast((each) => each !== undefined);
  const others = kept.filter((each) => !/^\s*path\s*(=|$)/i.test(each));
  return [`${COOKIE_PREFIX}${pair.trim()}`, ` Path=${prefix}${path ?? '/'}`, ...others].join(';');
}

function privately(directives: string): string {
  const kept = directives
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '' && !/^(public|private|s-maxage=.*)$/i.test(each));
  return [...kept, 'private'].join(', ');
}
