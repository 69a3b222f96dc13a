import { type Client, Metadata } from '@grpc/grpc-js';
import type { MethodDefinition, ServiceDefinition } from '@grpc/proto-loader';
import { protos } from '../../adapters/grpc/protos.ts';
import type { Rpc } from '../../handlers/input/request-fields.ts';
import { rpcs } from '../../lib/contract/schema.ts';
import { CODES } from '../../lib/errors.ts';
import type { Input } from './inputs.ts';
import { ADMIN } from './measured-server.ts';
import { OK, type Outcome, ofStatus } from './outcome.ts';

type Status = { code?: number; details?: string } | null;

/** Calls an rpc. The bytes of a client stream are one message. */
export function callRpc(client: Client, name: Rpc, { request, bytes, endless }: Input): Promise<Outcome> {
  const { service, requestStream, responseStream } = rpcs[name];
  const definition = (protos[`service.v1.${service}`] as ServiceDefinition)[name] as MethodDefinition<object, object>;
  const { path, requestSerialize, responseDeserialize } = definition;
  const metadata = new Metadata();
  metadata.set('x-api-key', ADMIN);
  metadata.set('x-max-answer-bytes', String(2 ** 31 - 1));
  return new Promise((resolve) => {
    const done = (status: Status) => resolve(status ? ofStatus(status.code, status.details ?? '') : OK);
    const left = (status: Status) => done(status?.code === CODES.CANCELLED.grpc ? null : status);
    if (requestStream && responseStream) {
      const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata);
      call.on('data', ({ data }: { data?: Buffer }) => data?.length && call.cancel()).once('error', left);
      call.once('end', () => done(null));
      call.write(request);
      if (bytes) call.write({ stdin: bytes });
    } else if (requestStream) {
      const call = client.makeClientStreamRequest(path, requestSerialize, responseDeserialize, metadata, done);
      call.on('error', () => undefined);
      call.write(request);
      if (bytes) call.write({ chunk: bytes });
      call.end();
    } else if (responseStream) {
      const call = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request, metadata);
      call.on('data', () => endless && call.cancel()).once('error', endless ? left : done);
      call.once('end', () => done(null));
    } else client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, done);
  });
}
