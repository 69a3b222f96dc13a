import { type Operations, operations } from './contract/operations.ts';
import { settingsOf } from './env.ts';
import { argumentsOf } from './http/arguments.ts';
import type { Body, Row, Settings } from './http/call.ts';
import { events } from './http/events.ts';
import { elements } from './http/pages.ts';
import { type Call, Transport } from './http/transport.ts';

type Request = Call['request'];

/** The methods of all operations, and the settings that they use. */
export interface Api extends Operations {
  readonly settings: Settings & { readonly url: string };
}

/** A method for each row of the table of operations. */
export function createApi(given: Settings = {}): Api {
  const settings = settingsOf(given);
  const transport = new Transport(settings);
  const methods = Object.entries<Row>(operations).map(([operation, row]) => [
    operation,
    method(transport, operation, row),
  ]);
  // Not enumerable: the key does not appear where a sandbox is printed or serialized.
  return Object.defineProperty(Object.fromEntries(methods), 'settings', { value: settings }) as unknown as Api;
}

function method(transport: Transport, operation: string, row: Row): unknown {
  /** Throws InvalidArgumentError. `options` may have further fields of the request. */
  const callOf = (given: Request = {}, options: object = {}): Call => {
    const [request, ofCall] = argumentsOf(operation, row, given, options);
    return { operation, row, request, options: ofCall };
  };
  if (row.list !== undefined)
    return (given?: Request, options?: object) => elements(transport, () => callOf(given, options));
  switch (row.kind) {
    case 'unary':
      return async (given?: Request, options?: object) => transport.json(callOf(given, options));
    case 'raw':
      return async (given: Request, body: Body, options?: object) =>
        transport.json({ ...callOf(given, options), body });
    case 'events':
      return (given: Request, options?: object) => events(transport, () => callOf(given, options));
    default:
      return async (given: Request, options?: object) => transport.answer(callOf(given, options));
  }
}
