import { fromJSON, type MessageTypeDefinition, type Options } from '@grpc/proto-loader';
import rpcStatus from '../../proto/google/rpc/status.proto';
import health from '../../proto/grpc/health/v1/health.proto';
import reflectionV1 from '../../proto/grpc/reflection/v1/reflection.proto';
import reflectionV1alpha from '../../proto/grpc/reflection/v1alpha/reflection.proto';
import codebase from '../../proto/service/v1/codebase.proto';
import sandbox from '../../proto/service/v1/sandbox.proto';

/** The files of all services the server has: what reflection tells. */
export const protoFiles = [sandbox, codebase, health, reflectionV1, reflectionV1alpha].flatMap(({ files }) => files);

/**
 * Messages as lib/messages.ts has them. No `oneofs`: it adds a made-up field beside each `optional` one, whose absence
 * shows without it.
 */
const asMessages: Options = { keepCase: true, longs: Number, enums: String, defaults: true };
const withOneofs: Options = { ...asMessages, oneofs: true };

/** Every service and message the server speaks, compiled, by full name. */
export const protos = {
  ...fromJSON(sandbox.json, asMessages),
  ...fromJSON(codebase.json, asMessages),
  ...fromJSON(health.json, asMessages),
  ...fromJSON(reflectionV1.json, withOneofs),
  ...fromJSON(reflectionV1alpha.json, withOneofs),
  ...fromJSON(rpcStatus.json, asMessages),
};

export function serialize(message: string, value: object): Buffer {
  return (protos[message] as MessageTypeDefinition<object, object>).serialize(value);
}
