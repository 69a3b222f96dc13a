import type { Operation } from '../../handlers/index.ts';
import { CODES, type Code } from '../../lib/errors.ts';
import { ADMIN } from './measured-server.ts';

/** `ok`, `ended`, or a code and the reason. */
type Outcome = string;

/** Calls that have no end are left after this. */
const LEAVE_MS = 3000;

/** Calls a route; `body`: of a file. Fields that the path does not name are the JSON body, or the query. */
export async function callRoute(
  url: string,
  { method, kind, path, query }: Operation,
  request: Readonly<Record<string, unknown>>,
  body: Uint8Array | undefined,
): Promise<Outcome> {
  const left: Record<string, unknown> = { ...request, ...(query && !(query in request) && { [query]: 'true' }) };
  const target = path.replace(/\{(\w+)\+?\}/g, (_, name: string) => {
    const value = String(left[name]);
    delete left[name];
    return value.split('/').map(encodeURIComponent).join('/');
  });
  const headers: Record<string, string> = { authorization: `Bearer ${ADMIN}` };
  const hasJson = ['POST', 'PUT', 'PATCH'].includes(method) && kind !== 'raw' && kind !== 'multipart';
  const init: RequestInit = { method, headers };
  if (kind === 'multipart') {
    const form = new FormData();
    form.append('file', new Blob([body ?? new Uint8Array()]), String(left.file_path));
    init.body = form;
  } else if (hasJson) init.body = JSON.stringify(left);
  else if (kind === 'raw') init.body = body ?? new Uint8Array(1);
  const text = hasJson || kind === 'multipart' ? '' : `?${queryOf(left)}`;
  return outcomeOf(url + target + text, init, kind === 'events' || kind === 'attach');
}

/** A request line has 16 KiB. */
const LIST_ITEMS = 40;

function queryOf(fields: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (Array.isArray(value)) for (const each of value.slice(0, LIST_ITEMS)) query.append(name, String(each));
    else if (typeof value !== 'object') query.append(name, String(value));
  }
  return query.toString();
}

/** Calls a tool of the face at `path`. */
export function callTool(url: string, path: string, name: string, args: object): Promise<Outcome> {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
  return post(url + path, JSON.stringify(message));
}

/** Posts a body as it is. */
function post(url: string, body: string): Promise<Outcome> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${ADMIN}`,
  };
  return outcomeOf(url, { method: 'POST', headers, body }, false);
}

async function outcomeOf(url: string, init: RequestInit, isEndless: boolean): Promise<Outcome> {
  try {
    const answer = await fetch(url, { ...init, ...(isEndless && { signal: AbortSignal.timeout(LEAVE_MS) }) });
    const text = Buffer.from(await answer.arrayBuffer());
    const start = text.subarray(0, 100_000).toString('latin1');
    const refused = start.includes('"isError":true') ? /"text":"([A-Z_]+: .{0,150})/.exec(start)?.[1] : undefined;
    if (answer.ok) return refused ?? 'ok';
    const { code, message = '' } = JSON.parse(text.toString()) as { code?: number; message?: string };
    const name = (Object.keys(CODES) as Code[]).find((each) => CODES[each].grpc === code) ?? 'UNKNOWN';
    return `${name}: ${message.slice(0, 150)}`;
  } catch {
    // The server ends the connection of a client that sends more than it takes.
    return 'ended';
  }
}
