import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../../lib/errors.ts';

/**
 * The threat: the service has no authentication of its own, and a web page open in a developer's browser can post to
 * localhost without asking (a "simple" request needs no CORS preflight). Browsers say where such a request is from;
 * other clients send neither header and are not concerned.
 */
export function refuseCrossOrigin(req: IncomingMessage): void {
  if (req.method === 'GET' || req.method === 'HEAD') return;
  const site = req.headers['sec-fetch-site'];
  const { origin, host } = req.headers;
  if (site === 'same-origin' || site === 'none') return;
  if (site === undefined && (origin === undefined || hostOf(origin) === host)) return;
  throw new ServiceError('PERMISSION_DENIED', 'requests from a web page of another origin are not accepted');
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
