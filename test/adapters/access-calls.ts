import { type Client, Metadata } from '@grpc/grpc-js';
import type { MethodDefinition, ServiceDefinition } from '@grpc/proto-loader';
import WebSocket from 'ws';
import { protos } from '../../adapters/grpc/protos.ts';
import type { Operation } from '../../handlers/index.ts';
import type { Rpc } from '../../handlers/input/request-fields.ts';
import { rpcs } from '../../lib/contract/schema.ts';
import { CODES, type Code } from '../../lib/errors.ts';

/** `reached`: the handler called its service, or answered. */
export type Outcome = 'reached' | Code;

type Fields = Readonly<Record<string, unknown>>;

/** Calls one route with a request that is valid for it. */
export async function callRest(url: string, row: Operation, request: Fields, key?: string): Promise<Outcome> {
  const { method, kind, path } = row;
  const left: Record<string, unknown> = { ...request };
  const target = path.replace(/\{(\w+)\+?\}/g, (_, name: string) => {
    const value = String(left[name]);
    delete left[name];
    return value;
  });
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  if (kind === 'attach') return outcomeOfAttach(new WebSocket(url.replace('http', 'ws') + target, { headers }));
  if (kind === 'multipart') {
    const form = new FormData();
    form.append('file', new Blob(['x']), String(left.file_path));
    return outcomeOf(await fetch(url + target, { method, headers, body: form }));
  }
  if (['POST', 'PUT', 'PATCH'].includes(method) && kind !== 'raw') {
    return outcomeOf(await fetch(url + target, { method, headers, body: JSON.stringify(left) }));
  }
  const query = new URLSearchParams(left as Record<string, string>).toString();
  const body = kind === 'raw' ? { body: 'x' } : {};
  return outcomeOf(await fetch(query ? `${url}${target}?${query}` : url + target, { method, headers, ...body }));
}

async function outcomeOfAttach(socket: WebSocket): Promise<Outcome> {
  const status = await new Promise<number>((resolve) => {
    socket.once('open', () => resolve(200));
    socket.once('unexpected-response', (_, answer) => resolve(answer.statusCode ?? 0));
  });
  socket.on('error', () => undefined).terminate();
  return outcome(status === 200, (code) => code.http === status);
}

async function outcomeOf(answer: Response): Promise<Outcome> {
  await answer.arrayBuffer();
  return outcome(answer.ok, (code) => code.http === answer.status);
}

function outcome(succeeded: boolean, is: (code: (typeof CODES)[Code]) => boolean): Outcome {
  const found = (Object.keys(CODES) as Code[]).find((name) => is(CODES[name]));
  if (succeeded || found === 'UNIMPLEMENTED') return 'reached';
  if (found === undefined) throw new Error('the answer has an unknown code');
  return found;
}

/** Calls one rpc with a request that is valid for it. */
export function callGrpc(client: Client, name: Rpc, request: Fields, key?: string): Promise<Outcome> {
  const { service, requestStream, responseStream } = rpcs[name];
  const definition = (protos[`service.v1.${service}`] as ServiceDefinition)[name] as MethodDefinition<object, object>;
  const { path, requestSerialize, responseDeserialize } = definition;
  const metadata = new Metadata();
  if (key !== undefined) metadata.set('x-api-key', key);
  return new Promise((resolve) => {
    const done = (error: { code?: number } | null) => {
      resolve(outcome(error === null, (code) => code.grpc === error?.code));
    };
    if (requestStream && responseStream) {
      const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata);
      call
        .on('data', () => call.cancel())
        .once('error', (error: { code?: number }) => done(error.code === CODES.CANCELLED.grpc ? null : error));
      call.write(request);
    } else if (requestStream) {
      const call = client.makeClientStreamRequest(path, requestSerialize, responseDeserialize, metadata, done);
      call.write(request);
      call.end();
    } else if (responseStream) {
      const call = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request, metadata);
      call
        .on('data', () => {})
        .once('error', done)
        .once('end', () => done(null));
    } else client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, done);
  });
}
