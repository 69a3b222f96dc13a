import type { Operation } from '../../handlers/index.ts';
import { CallError } from '../contract/client.ts';
import { RestClient } from '../contract/rest-client.ts';
import type { Input } from './inputs.ts';
import { ADMIN, type MeasuredServer } from './measured-server.ts';
import { OK, type Outcome, ofStatus } from './outcome.ts';

/** A request line has 16 KiB. */
const LIST_ITEMS = 40;

/** Calls a route. Fields that the path does not name are the JSON body, or the query. */
export async function callRoute(server: MeasuredServer, row: Operation, input: Input): Promise<Outcome> {
  if (row.kind === 'attach') return attach(server, input);
  const { target, left } = targetOf(row, input.request);
  const headers: Record<string, string> = { authorization: `Bearer ${ADMIN}` };
  const { method, kind } = row;
  const { bytes = new Uint8Array(1) } = input;
  const inBody = ['POST', 'PUT', 'PATCH'].includes(method) && kind !== 'raw' && kind !== 'multipart';
  const leave = new AbortController();
  const init: RequestInit = { method, headers, signal: leave.signal };
  if (kind === 'multipart') init.body = formOf(String(left.file_path), bytes);
  else if (inBody) init.body = JSON.stringify(left);
  else if (kind === 'raw') init.body = bytes as Uint8Array<ArrayBuffer>;
  const query = inBody || kind === 'multipart' ? '' : `?${queryOf(left)}`;
  const answer = await fetch(server.url + target + query, init);
  if (input.endless) {
    await answer.body?.getReader().read();
    leave.abort();
    return OK;
  }
  return outcomeOf(answer);
}

function targetOf({ path, query }: Operation, request: Input['request']) {
  const left: Record<string, unknown> = { ...request, ...(query && !(query in request) && { [query]: 'true' }) };
  const target = path.replace(/\{(\w+)\+?\}/g, (_, name: string) => {
    const value = String(left[name]);
    delete left[name];
    return value.split('/').map(encodeURIComponent).join('/');
  });
  return { target, left };
}

function formOf(name: string, bytes: Uint8Array): FormData {
  const form = new FormData();
  form.append('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), name);
  return form;
}

function queryOf(fields: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (Array.isArray(value)) for (const each of value.slice(0, LIST_ITEMS)) query.append(name, String(each));
    else if (typeof value !== 'object') query.append(name, String(value));
  }
  return query.toString();
}

async function outcomeOf(answer: Response): Promise<Outcome> {
  const text = Buffer.from(await answer.arrayBuffer());
  if (answer.ok) return OK;
  const { code, message = '' } = JSON.parse(text.toString()) as { code?: number; message?: string };
  return ofStatus(code, message);
}

/** Sends the bytes in one message, and leaves at the first event after that of the start. */
async function attach(server: MeasuredServer, { request, bytes }: Input): Promise<Outcome> {
  const rest = new RestClient(server.httpAddress, ADMIN);
  const attached = rest.attach(request as { sandbox_id: string; process_id: string });
  try {
    if (bytes) attached.send({ stdin: Buffer.from(bytes) });
    for await (const { attached: start, data } of attached.events) if (start === undefined && data) break;
    return OK;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    return { code: error.code, message: error.message };
  } finally {
    attached.close();
    rest.close();
  }
}
