import { once } from 'node:events';
import { type ServerDuplexStream, status } from '@grpc/grpc-js';
import { enteredCall } from './entrance.ts';
import { protoFiles } from './protos.ts';

interface ReflectionRequest {
  message_request?: string;
  file_by_filename?: string;
  file_containing_symbol?: string;
  all_extension_numbers_of_type?: string;
}

type Descriptors = ReadonlyMap<string, { dependencies: readonly string[]; bytes: Buffer }>;

/** Implementation of server reflection. v1 and v1alpha have the same shape. */
export function reflection(): { ServerReflectionInfo: (call: ServerDuplexStream<ReflectionRequest, object>) => void } {
  const descriptors: Descriptors = new Map(
    protoFiles.map(({ name, dependencies, descriptor }) => [
      name,
      { dependencies, bytes: Buffer.from(descriptor, 'base64') },
    ]),
  );
  const fileOf = new Map(protoFiles.flatMap(({ name, symbols }) => symbols.map((symbol) => [symbol, name])));
  const services = protoFiles.flatMap((file) => file.services).map((name) => ({ name }));

  const reply = (request: ReflectionRequest): object => {
    switch (request.message_request) {
      case 'list_services':
        return { list_services_response: { service: services } };
      case 'file_by_filename':
        return fileReply(descriptors, request.file_by_filename);
      case 'file_containing_symbol':
        return fileReply(descriptors, fileOf.get(request.file_containing_symbol ?? ''));
      case 'all_extension_numbers_of_type': {
        const base_type_name = request.all_extension_numbers_of_type ?? '';
        if (!fileOf.has(base_type_name)) return errorReply(status.NOT_FOUND, 'there is no such type');
        return { all_extension_numbers_response: { base_type_name, extension_number: [] } };
      }
      case 'file_containing_extension':
        return errorReply(status.NOT_FOUND, 'there are no extensions');
      default:
        return errorReply(status.INVALID_ARGUMENT, 'the request names nothing to look up');
    }
  };

  return {
    async ServerReflectionInfo(call) {
      try {
        // Leaving the loop must not destroy the stream: the responses are written to it.
        for await (const request of call.iterator({ destroyOnReturn: false }) as AsyncIterable<ReflectionRequest>) {
          const goesOn = call.write({ original_request: request, ...reply(request) });
          enteredCall(call).consumed();
          if (!goesOn) await once(call, 'drain');
        }
      } catch {
        // The client disconnected.
      }
      call.end();
    },
  };
}

/** A file and its transitive imports, so that one request is enough. */
function fileReply(descriptors: Descriptors, name: string | undefined): object {
  if (name === undefined || !descriptors.has(name))
    return errorReply(status.NOT_FOUND, 'there is no such file or symbol');
  const names = new Set([name]);
  for (const each of names) for (const dependency of descriptors.get(each)?.dependencies ?? []) names.add(dependency);
  return {
    file_descriptor_response: { file_descriptor_proto: [...names].map((each) => descriptors.get(each)?.bytes) },
  };
}

function errorReply(error_code: number, error_message: string): object {
  return { error_response: { error_code, error_message } };
}
