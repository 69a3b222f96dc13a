import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../../lib/errors.ts';

/**
 * Refuses state-changing requests of web pages from another origin. The threat: with authentication off, a web page in a
 * developer's browser can post to localhost without a CORS preflight (a "simple" request). Browsers send the origin of
 * such a request; other clients send neither header and are not affected. A WebSocket is state-changing too, and
 * browsers let every page open one. Throws PERMISSION_DENIED.
 */
export function refuseCrossOrigin(req: IncomingMessage, isWebSocket: boolean): void {
  if (!isWebSocket && (req.method === 'GET' || req.method === 'HEAD')) return;
  const site = req.headers['sec-fetch-site'];
  const { origin, host } = req.headers;
  if (site === 'same-origin' || site === 'none') return;
  if (site === undefined && (origin === undefined || hostOf(origin) === host)) return;
  throw new ServiceError('PERMISSION_DENIED', 'requests from a web page of another origin are not accepted');
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
