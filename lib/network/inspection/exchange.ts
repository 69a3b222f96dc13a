import { type ClientRequest, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Shares } from '../../shares.ts';
import type { InspectedSandbox, InspectedTarget } from '../proxy/inspector.ts';
import { type Framing, framed } from './bodies.ts';
import { type Checked, check, holdHead, Refused, refusalOf } from './checked.ts';
import { passedHeaders, refuse } from './messages.ts';
import { FoundError, TooLongError } from './replacer.ts';
import { type Upstream, UpstreamError } from './upstream.ts';

/** What the requests of one connection from inside have in common. */
export interface Inspected {
  target: InspectedTarget;
  sandbox: InspectedSandbox;
  upstream: Upstream;
  /** Resolves at the end of the last request. */
  last: Promise<void>;
  /** Requests that have not ended. */
  waiting: number;
  /** Bytes of long heads of requests in progress, of all sandboxes. */
  heads: Shares<InspectedSandbox>;
  /** Milliseconds without a byte in a WebSocket. */
  idleMs: number;
}

/** Carries out one request. Never rejects. */
export async function exchange(
  inspected: Inspected,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.sendDate = false;
  let sent: ClientRequest | undefined;
  let sending: Promise<void> = Promise.resolve();
  let release: (() => void) | undefined;
  // A connection that ends is told by the other events.
  response.on('error', () => sent?.destroy());
  request.on('error', () => sent?.destroy());
  try {
    const checked = check(request, inspected.target, inspected.sandbox);
    release = holdHead(checked, inspected);
    const body = await bodyOf(request, checked);
    sent = open(inspected, request, checked, body.length);
    const answer = answered(sent);
    sending = body.send(sent);
    // The answer may come before the end of the body, and then its sending ends as the answer does.
    sending.catch((error) => sent?.destroy(error));
    await answerWith(await answer, request, response, checked);
  } catch (error) {
    sent?.destroy();
    // The end of the server's connection may be the consequence of what was found in the body.
    const cause = await sending.then(
      () => error,
      (each) => (each instanceof FoundError || each instanceof TooLongError ? each : error),
    );
    fail(cause, inspected, response);
    request.resume();
  } finally {
    release?.();
  }
}

/** The server's request for these headers. `length`: of a body whose length has changed or is known. */
export function open(
  { target, upstream }: Inspected,
  request: IncomingMessage,
  { url, header, use }: Checked,
  length: number | undefined,
  more: readonly string[] = [],
): ClientRequest {
  const headers = passedHeaders(request, (value, name) => {
    if (name === 'content-length') return undefined;
    // Values that a server reflects cannot be found in what is compressed.
    if (name === 'accept-encoding' && use.isTrusted) return undefined;
    return header(value, name);
  });
  if (length !== undefined) headers.push('Content-Length', String(length));
  else if (hasBody(request)) headers.push('Transfer-Encoding', 'chunked');
  const { agent } = upstream;
  const { host, port } = target;
  const options = { agent, host, port, method: request.method!, path: url, setHost: false };
  return httpRequest({ ...options, headers: [...headers, ...more] as never });
}

export function answered(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once('response', resolve);
    sent.once('error', reject);
    sent.once('close', () => reject(new UpstreamError('the server closed the connection without an answer')));
    // After the answer, errors of the connection are those of the answer.
    sent.on('error', () => undefined);
  });
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || headers['content-length'] !== undefined;
}

async function bodyOf(request: IncomingMessage, { use }: Checked) {
  const { headers } = request;
  const given = headers['content-length'];
  const length = given === undefined ? undefined : Number(given);
  const isPlain = (headers['content-encoding'] ?? 'identity') === 'identity';
  const replacer = isPlain && hasBody(request) ? use.body(headers['content-type'] ?? '') : undefined;
  return framed(request, length, replacer);
}

/**
 * The body of an answer as the sandbox gets it. `length`: its `content-length`. One with a `content-encoding` is searched, too:
 * what is asked for may decide what a server says there.
 */
export async function bodyOfAnswer(
  answer: IncomingMessage,
  length: number | undefined,
  { use }: Checked,
): Promise<Framing> {
  const replacer = use.reflected();
  if (replacer !== undefined) return framed(answer, length, replacer);
  return { length, send: (to) => pipeline(answer, to) };
}

async function answerWith(
  answer: IncomingMessage,
  request: IncomingMessage,
  response: ServerResponse,
  checked: Checked,
): Promise<void> {
  const { statusCode = 502, statusMessage = '', headers } = answer;
  const { use } = checked;
  const hasContent = request.method !== 'HEAD' && statusCode !== 204 && statusCode !== 304;
  const given = headers['content-length'];
  const length = given === undefined ? undefined : Number(given);
  const body = hasContent ? await bodyOfAnswer(answer, length, checked) : undefined;
  const shown = (text: string) => use.answered(text);
  const passed = passedHeaders(
    answer,
    (value, name) => {
      if (name === 'content-length' && body !== undefined) return undefined;
      // HTTP/3 and other ports of the server go around this proxy.
      return name === 'alt-svc' ? undefined : shown(value);
    },
    shown,
  );
  if (body?.length !== undefined) passed.push('Content-Length', String(body.length));
  response.writeHead(statusCode, use.answered(statusMessage), passed);
  await (body === undefined ? pipeline(answer, response) : body.send(response));
}

function fail(error: unknown, { target, sandbox }: Inspected, response: ServerResponse): void {
  const refused = refusalOf(error, target, sandbox);
  if (refused instanceof Refused) refuse(response, refused.status, refused.code, refused.message);
  else if (refused instanceof UpstreamError) refuse(response, 502, 'unreachable', refused.message);
  // As without the proxy: the server has closed the connection, and the client may try again.
  else response.destroy();
}
