import type { IncomingMessage, ServerResponse } from 'node:http';
import { type PreviewDomain, placeOfLabel, portPath } from '../../../lib/network/ports/preview-domain.ts';
import type { ReadPace } from '../../../lib/read-pace.ts';
import { hostNameOf } from '../../host-name.ts';
import { parseTarget } from '../router.ts';

/** What a request to an opened port asks for. */
export interface PreviewTarget {
  sandboxId: string;
  port: number;
  /**
   * `path`: HTTP by a path of the service's own origin; `host`: HTTP by a host name of the port's own; `connect`: bytes in a
   * WebSocket.
   */
  door: 'path' | 'host' | 'connect';
  /** The path of the client's URL that the program in the sandbox knows nothing of; no slash at its end. */
  prefix: string;
  /** For the program in the sandbox: exactly as sent. Empty: the slash after the prefix is missing. */
  path: string;
  query: string;
}

/** A request to an opened port, with its response. */
export interface PreviewExchange {
  req: IncomingMessage;
  res: ServerResponse;
  /** Present if the client asks for a WebSocket: the first bytes after the request. */
  head: Buffer | undefined;
  target: PreviewTarget;
  isTls: boolean;
  signal: AbortSignal;
  /** Of the bytes of all previews. */
  pace: ReadPace;
  /** Of what is parsed of all programs; see `ProgramSocket`. */
  parsing: ReadPace;
}

/**
 * A path of the program as one of the client's URL. Browsers take a path that begins with two slashes, one of which may be a
 * backslash or stand behind a tab or a line end, for another host.
 */
export function pathBelow(prefix: string, path: string): string {
  return `${prefix}/${path.replace(/^[/\\\0-\x20]+/, '')}`;
}

const PATH = /^\/v1\/sandboxes\/(sb_[0-9a-z]+)\/ports\/([1-9]\d{0,4})\/(?:(connect)$|proxy(?=\/|$)(.*)$)/s;

/**
 * The opened port that a request is for; undefined: it is for the service. Every request to a host name of a port is for
 * that port: the service itself must not be in the origin of a program in a sandbox.
 */
export function previewTarget(
  { url = '/', headers: { host } }: Pick<IncomingMessage, 'url' | 'headers'>,
  domain: PreviewDomain | undefined,
): PreviewTarget | undefined {
  const { path, query } = parseTarget(url);
  const place = domain && placeOfHost(host, domain);
  if (place) return { ...place, door: 'host', prefix: '', path: path === '' ? '/' : path, query };
  const [, sandboxId, digits, connect, rest = ''] = PATH.exec(path) ?? [];
  const port = Number(digits);
  if (sandboxId === undefined || port > 65_535) return undefined;
  if (connect) return { sandboxId, port, door: 'connect', prefix: '', path: '', query };
  return { sandboxId, port, door: 'path', prefix: portPath(sandboxId, port).slice(0, -1), path: rest, query };
}

function placeOfHost(host: string | undefined, domain: PreviewDomain) {
  const name = host && hostNameOf(host);
  if (!name?.endsWith(`.${domain.name}`)) return undefined;
  return placeOfLabel(name.slice(0, -domain.name.length - 1));
}
