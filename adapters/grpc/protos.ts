import { fromJSON, type MessageTypeDefinition, type Options } from '@grpc/proto-loader';
import rpcErrorDetails from '../../proto/google/rpc/error_details.proto';
import rpcStatus from '../../proto/google/rpc/status.proto';
import health from '../../proto/grpc/health/v1/health.proto';
import reflectionV1 from '../../proto/grpc/reflection/v1/reflection.proto';
import reflectionV1alpha from '../../proto/grpc/reflection/v1alpha/reflection.proto';
import codebase from '../../proto/service/v1/codebase.proto';
import image from '../../proto/service/v1/image.proto';
import key from '../../proto/service/v1/key.proto';
import network from '../../proto/service/v1/network.proto';
import owner from '../../proto/service/v1/owner.proto';
import port from '../../proto/service/v1/port.proto';
import processes from '../../proto/service/v1/process.proto';
import sandbox from '../../proto/service/v1/sandbox.proto';
import secret from '../../proto/service/v1/secret.proto';
import { hasMessage, type Shape, shapeOf } from './shapes.ts';

/**
 * Decodes messages to the types of lib/contract/messages.ts. `oneofs` is off: it would add a synthetic field for each `optional`
 * field, whose absence is visible without it.
 */
const asMessages: Options = { keepCase: true, longs: Number, enums: String, defaults: true };
const withOneofs: Options = { ...asMessages, oneofs: true };

const files = [
  sandbox,
  processes,
  codebase,
  image,
  key,
  network,
  owner,
  port,
  secret,
  health,
  reflectionV1,
  reflectionV1alpha,
];

/** The files of all services of the server, as reflection returns them. */
export const protoFiles = [...new Map(files.flatMap((each) => each.files).map((each) => [each.name, each])).values()];

/** All services and messages of the server, by full name. */
export const protos = {
  ...fromJSON(sandbox.json, asMessages),
  ...fromJSON(processes.json, asMessages),
  ...fromJSON(codebase.json, asMessages),
  ...fromJSON(image.json, asMessages),
  ...fromJSON(key.json, asMessages),
  ...fromJSON(network.json, asMessages),
  ...fromJSON(owner.json, asMessages),
  ...fromJSON(port.json, asMessages),
  ...fromJSON(secret.json, asMessages),
  ...fromJSON(health.json, asMessages),
  ...fromJSON(reflectionV1.json, withOneofs),
  ...fromJSON(reflectionV1alpha.json, withOneofs),
  ...fromJSON(rpcStatus.json, asMessages),
  ...fromJSON(rpcErrorDetails.json, asMessages),
};

export function serialize(message: string, value: object): Buffer {
  return (protos[message] as MessageTypeDefinition<object, object>).serialize(value);
}

/** The shape of a message of these services, by its full name. */
export function shapeOfMessage(message: string): Shape {
  const { json } = files.find((each) => hasMessage(each.json, message))!;
  return shapeOf(json, message);
}
