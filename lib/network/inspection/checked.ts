import type { IncomingMessage } from 'node:http';
import type { Shares } from '../../shares.ts';
import type { InspectedSandbox, InspectedTarget } from '../proxy/inspector.ts';
import { hasTooManyFields, TOO_MANY_FIELDS } from '../proxy/request-limits.ts';
import { FoundError, TooLongError } from './replacer.ts';
import { type SecretUse, secretUse } from './secret-use.ts';

/** Bytes of the URL and the headers of a request with the values of secrets. */
const MOST_HEAD_BYTES = 524_288;
/** As long as heads from programs may be. Only longer ones are counted. */
const SHORT_HEAD_BYTES = 32_768;
/**
 * Of the long heads of all requests in progress. The threat: programs of some sandboxes have hundreds of requests to a server
 * that does not answer, each with half a megabyte of secrets, until the thread of all networks has no memory.
 */
export const MOST_LONG_HEADS_BYTES = 67_108_864;

/** A request that may pass, with the secrets that it may use and what the server gets. */
export interface Checked {
  use: SecretUse;
  url: string;
  /** The value of a header as the server gets it. */
  header: (value: string, name: string) => string;
  /** Of its head, with the values of secrets. */
  bytes: number;
}

/** Why a request does not pass; it has been recorded. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, sentence: string) {
    super(sentence);
    this.status = status;
    this.code = code;
  }
}

/** Decides about one request by its head. Throws Refused. */
export function check(request: IncomingMessage, target: InspectedTarget, sandbox: InspectedSandbox): Checked {
  const { method = '', url = '' } = request;
  if (hasTooManyFields(request)) throw refused(target, sandbox, 431, 'bad_request', TOO_MANY_FIELDS);
  checkHost(request, target, sandbox);
  if (!url.startsWith('/') && !(url === '*' && method === 'OPTIONS')) {
    throw refused(target, sandbox, 400, 'invalid_request', `the request to ${target.host} must begin with a path`);
  }
  for (const path of pathsOf(url)) {
    const { allowed, code, reason } = sandbox.decide({ ...target, method, path });
    if (!allowed) throw refused({ ...target, method, path }, sandbox, 403, code, reason);
  }
  const use = secretUse(sandbox.secrets(), target.host);
  try {
    // All of them before anything is sent.
    const sent = use.url(url);
    let bytes = sent.length;
    const { rawHeaders } = request;
    for (const [index, text] of rawHeaders.entries()) {
      // A name is sent as it is, unless it is refused.
      const name = index % 2 === 0 ? '' : rawHeaders[index - 1]!.toLowerCase();
      bytes += use.header(text, name).length;
      if (bytes > MOST_HEAD_BYTES) throw new TooLongError();
    }
    return { use, url: sent, header: (value, name) => use.header(value, name), bytes };
  } catch (error) {
    throw refusalOf(error, target, sandbox);
  }
}

/** Memory for the head of a request until the returned function is called. Throws Refused if there is none. */
export function holdHead({ bytes }: Checked, { target, sandbox, heads }: Holding): (() => void) | undefined {
  if (bytes <= SHORT_HEAD_BYTES) return undefined;
  if (!heads.take(sandbox, bytes)) {
    const reason = 'other requests in progress have as many values of secrets as the server has memory for; try again';
    throw refused(target, sandbox, 503, 'request_too_long', reason);
  }
  return () => heads.give(sandbox, bytes);
}

interface Holding {
  target: InspectedTarget;
  sandbox: InspectedSandbox;
  heads: Shares<InspectedSandbox>;
}

/** What was found in a part of the request, as its refusal; other errors are returned as they are. */
export function refusalOf(error: unknown, target: InspectedTarget, sandbox: InspectedSandbox): unknown {
  if (error instanceof FoundError) return elsewhere(error, target, sandbox);
  if (!(error instanceof TooLongError)) return error;
  return refused(target, sandbox, 413, 'request_too_long', error.message);
}

/** A placeholder on its way to a host that its secret is not for. */
function elsewhere({ secret }: FoundError, target: InspectedTarget, sandbox: InspectedSandbox): Refused {
  const reason = `the placeholder of the secret "${secret}" was sent to ${target.host}, which is none of its hosts`;
  return refused(target, sandbox, 403, 'secret_elsewhere', reason);
}

/** The name that the server is asked for must be the one that was checked, in TLS and in each request. */
function checkHost(request: IncomingMessage, target: InspectedTarget, sandbox: InspectedSandbox): void {
  const hosts = request.rawHeaders.filter(
    (_, index, all) => index % 2 === 1 && all[index - 1]!.toLowerCase() === 'host',
  );
  const [host = ''] = hosts;
  const name = host.replace(/:\d+$/, '').replace(/\.$/, '').toLowerCase();
  const port = /:(\d+)$/.exec(host)?.[1];
  if (hosts.length === 1 && name === target.host && (port === undefined || Number(port) === target.port)) return;
  const reason = `the request has another host than ${target.host}, the name of its connection`;
  throw refused(target, sandbox, 421, 'host_mismatch', reason);
}

/** The path as it was sent, and as servers may understand it: a rule about paths must hold for both. */
function pathsOf(url: string): string[] {
  const sent = url.replace(/\?.*$/s, '');
  try {
    const decoded = decodeURIComponent(sent).replaceAll('\\', '/');
    return [...new Set([sent, new URL(`https://a${decoded.replace(/\/{2,}/g, '/')}`).pathname])];
  } catch {
    return [sent];
  }
}

function refused(
  target: Parameters<InspectedSandbox['refused']>[0],
  sandbox: InspectedSandbox,
  status: number,
  code: string,
  reason: string,
): Refused {
  sandbox.refused(target, code, reason);
  return new Refused(status, code, reason);
}
