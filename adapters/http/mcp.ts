import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Need } from '../../lib/access/need.ts';
import { ServiceError } from '../../lib/errors.ts';
import type { Received } from '../../lib/limits/received-bytes.ts';
import { idempotencyKeyOf } from '../../lib/retries/idempotency-key.ts';
import type { Turns } from '../../lib/turns.ts';
import { Caller, type CallerParts } from '../mcp/caller.ts';
import { Cancellations } from '../mcp/cancellations.ts';
import { answer, writable } from './answer.ts';
import { readBody, textOf } from './json.ts';
import { setRateHeaders } from './limit-headers.ts';
import { LONG_JSON, parsedInThread } from './long-json.ts';

/** Characters of a JSON-RPC id, which is repeated in the answer. */
const MAX_ID = 256;
/** Models write less. It is held several times: as bytes, as text and parsed. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Of messages that are parsed at once. Every message may have so many. */
const LARGE = 65_536;
const AGENTS = /^\/v1\/sandboxes\/([^/]+)\/mcp$/;

/** The tools that a path serves: those of an agent in one sandbox, or those of an owner. */
export type Face = { kind: 'agent'; sandboxId: string } | { kind: 'orchestrator' };

/** undefined: the path is not one of MCP. */
export function mcpFace(path: string): Face | undefined {
  if (path === '/mcp') return { kind: 'orchestrator' };
  const sandboxId = AGENTS.exec(path)?.[1];
  return sandboxId === undefined ? undefined : { kind: 'agent', sandboxId };
}

const NEEDS: Readonly<Record<Face['kind'], Need>> = {
  agent: { role: 'agent', on: 'sandbox' },
  orchestrator: { role: 'owner', on: 'nothing' },
};

interface McpExchange extends Omit<CallerParts, 'idempotencyKey' | 'ownerId'> {
  req: IncomingMessage;
  res: ServerResponse;
  face: Face;
  turns: Turns;
  /** Ends the call, whose key is no longer valid. */
  end: (reason: ServiceError) => void;
}

/**
 * Serves MCP's Streamable HTTP: each POST is one JSON-RPC message. The caller is authenticated before the body is read, and
 * must be allowed to know of the sandbox; each operation of a tool is then decided by itself. A request that ends early ends
 * its command.
 */
export class McpEndpoint {
  readonly #cancellations = new Cancellations();

  async respond({ req, res, face, turns, end, ...parts }: McpExchange): Promise<void> {
    const { services, credentials, log } = parts;
    const guard = services.access.admit(credentials, NEEDS[face.kind], end, []);
    let received: Received | undefined;
    try {
      setRateHeaders(res, guard.rate);
      const sandboxId = face.kind === 'agent' ? face.sandboxId : undefined;
      guard.narrow({ sandbox_id: sandboxId ?? '' });
      const { owner_id: owner, key_id: key } = guard.principal;
      const sender = { owner, key, connection: req.socket };
      received = services.received.begin(sender, end);
      const message = await readMessage(req, { services, guard, signal: parts.signal }, turns, received);
      if ('refused' in message) return answer(res, 400, message.refused);
      const { method, id, params } = message;
      const session = req.headersDistinct['mcp-session-id']?.[0];
      const { key_id, owner_id } = guard.principal;
      if (method === 'notifications/cancelled') this.#cancellations.cancel(key_id, session, params?.requestId);
      const running = this.#cancellations.begin(key_id, session, id);
      try {
        const signal = AbortSignal.any([parts.signal, running.signal]);
        const idempotencyKey = idempotencyKeyOf(req.headersDistinct['idempotency-key'] ?? []);
        const caller = new Caller({ ...parts, signal, idempotencyKey, ownerId: owner_id });
        // Loaded at the first request: the library takes as long to load as the rest of the server.
        const { serveMessage } = await import('../mcp/serve.ts');
        const headers = headersOf(req);
        const granted = async () => (sandboxId === undefined ? undefined : services.sandboxes.granted(sandboxId));
        const response = await serveMessage({
          sandboxId,
          caller,
          headers,
          message,
          signal: parts.signal,
          log,
          granted,
        });
        const isLegacyStart = method === 'initialize' && response.ok;
        const unsent = (bytes: number) => services.received.unsent(sender, bytes, () => res.destroy());
        const newSession = isLegacyStart ? this.#cancellations.newSession() : undefined;
        await send(res, response, { session: newSession, signal: parts.signal, unsent });
      } finally {
        running.end();
      }
    } finally {
      received?.end();
      guard.release();
    }
  }
}

interface Message {
  method?: unknown;
  id?: unknown;
  params?: { requestId?: unknown; name?: unknown };
}

/** Bytes that a message of this length may have if it calls this tool. */
async function messageLimit(length: number, tool: unknown): Promise<number> {
  if (length <= LARGE) return LARGE;
  const { callLimit } = await import('../mcp/faces.ts');
  return Math.min(MAX_BYTES, callLimit(tool));
}

async function readMessage(
  req: IncomingMessage,
  context: Parameters<typeof parsedInThread>[1],
  turns: Turns,
  received: Received,
): Promise<Message | { refused: object }> {
  const { signal } = context;
  const bytes = await readBody(req, { turns, signal, limit: MAX_BYTES, received });
  if (bytes.length > LARGE) await turns.next();
  signal.throwIfAborted();
  received.complete();
  let message: unknown;
  try {
    message = bytes.length > LONG_JSON ? await parsedInThread(bytes, context) : JSON.parse(textOf(bytes));
  } catch (error) {
    const isOther = error instanceof ServiceError && error.code !== 'INVALID_ARGUMENT';
    if (isOther) throw error;
    return refusal(-32700, 'the request body is not valid JSON in UTF-8');
  }
  if (typeof message !== 'object' || message === null) return refusal(-32600, 'the request body must be a JSON object');
  if (Array.isArray(message)) return refusal(-32600, 'batches are not accepted: send each message by itself');
  const { id, method, params } = message as Message;
  const limit = await messageLimit(bytes.length, method === 'tools/call' ? params?.name : undefined);
  if (bytes.length > limit) return refusal(-32600, `a message of this kind must have at most ${limit} bytes`);
  if (typeof id === 'string' && id.length > MAX_ID) return refusal(-32600, `id must have at most ${MAX_ID} characters`);
  return message;
}

const refusal = (code: number, message: string) => ({
  refused: { jsonrpc: '2.0', id: null, error: { code, message } },
});

/** Those that the protocol reads. */
const READ = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id'];

function headersOf({ headers }: IncomingMessage): Headers {
  const read = new Headers();
  for (const name of READ) {
    const value = headers[name];
    if (typeof value === 'string') read.set(name, value);
  }
  return read;
}

interface Sending {
  session: string | undefined;
  signal: AbortSignal;
  /** See `ReceivedBytes`. */
  unsent: (bytes: number) => () => void;
}

/** Sends a response, whose body may be a stream that lasts as long as a command. */
async function send(res: ServerResponse, response: Response, { session, signal, unsent }: Sending) {
  if (session !== undefined) res.setHeader('mcp-session-id', session);
  for (const [name, value] of response.headers) res.setHeader(name, value);
  res.setHeader('cache-control', 'no-store');
  res.setHeader('x-accel-buffering', 'no');
  res.writeHead(response.status);
  const reader = response.body?.getReader();
  if (reader === undefined) return void res.end();
  res.flushHeaders();
  const cancel = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  for (;;) {
    const { done, value } = await reader.read();
    if (done || res.destroyed) break;
    if (res.write(value)) continue;
    const sent = unsent(value.length);
    await writable(res);
    sent();
  }
  signal.removeEventListener('abort', cancel);
  res.end();
}

/** Methods of the paths of MCP. */
export const MCP_METHODS = ['POST'];
