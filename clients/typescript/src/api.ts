import { type Operations, operations } from './contract/operations.ts';
import { settingsOf } from './env.ts';
import type { Body, CallOptions, Row, Settings } from './http/call.ts';
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
  if (row.list !== undefined) {
    return (request: Request = {}, options: CallOptions = {}) =>
      elements(transport, { operation, row, request, options });
  }
  switch (row.kind) {
    case 'unary':
      return (request: Request = {}, options: CallOptions = {}) => transport.json({ operation, row, request, options });
    case 'raw':
      return (request: Request, body: Body, options: CallOptions = {}) =>
        transport.json({ operation, row, request, body, options });
    case 'events':
      return (request: Request, options: CallOptions = {}) => events(transport, { operation, row, request, options });
    default:
      return (request: Request, options: CallOptions = {}) => transport.answer({ operation, row, request, options });
  }
}
