import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../../../lib/errors.ts';

/**
 * Refuses requests that pages of other hosts make with the cookie of this one, except that they open a page. The threat: all
 * previews are hosts of one domain, and one site for the browser, which sends the cookies of one to it from the pages of
 * another. Throws PERMISSION_DENIED.
 */
export function refuseForeignPage({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): void {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  const isRead = method === 'GET' || method === 'HEAD';
  const isPage = isRead && headers['sec-fetch-mode'] === 'navigate';
  if (site === 'same-origin' || site === 'none' || (site !== undefined && isPage)) return;
  if (site === undefined && (origin === undefined || hostOf(origin) === host)) return;
  throw new ServiceError('PERMISSION_DENIED', 'requests from a web page of another host are not accepted');
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
