import type { DeclaredHandler } from '../../handlers/declaration.ts';
import { type HandlerEvent, type Operation, operations } from '../../handlers/index.ts';
import { type Constraints, type FieldConstraint, stringCheck } from '../../handlers/input/constraints.ts';
import type { Rpc } from '../../handlers/input/request-fields.ts';
import { enums, fields, rpcs } from '../../lib/contract/schema.ts';
import { exampleRequest } from '../adapters/example-requests.ts';
import { json } from './call.ts';

interface Field {
  type: string;
  repeated?: true;
  map?: true;
}

type Fields = Readonly<Record<string, unknown>>;
export type Row = Pick<Operation, 'method' | 'path' | 'kind'> & { operation: Rpc; handler: DeclaredHandler };

/** The first route of each operation of the contract. */
export const rows = operations.filter(
  ({ operation }, index) =>
    operation !== 'Health' && operations.findIndex((each) => each.operation === operation) === index,
) as unknown as Row[];

export function fieldsOf(operation: Rpc): Readonly<Record<string, Field>> {
  const { chunk: _, ...own } = fields[rpcs[operation].request] as Record<string, Field>;
  return own;
}

export const constraintsOf = (operation: Rpc): Constraints =>
  rows.find((each) => each.operation === operation)!.handler.constraints;

const IDS = {
  sandbox_id: 'sb_1',
  codebase_id: 'cb_1',
  process_id: 'p_1',
  session_id: 'se_1',
  key_id: 'k_1',
};
const TEXTS = ['GET', 'a', '/opt/node', 'a.example.org', '0'.repeat(64)];

/** The example of an operation, with a value for each other field of a plain type, as far as the constraints permit one. */
export function permittedRequest({ operation, handler }: Row): Record<string, unknown> {
  const example = exampleRequest(operation, IDS);
  const others = Object.entries(fieldsOf(operation)).flatMap(([name, field]) => {
    const constraint = handler.constraints[name] ?? {};
    const value = name in example || constraint.excludes ? undefined : permittedValue(name, field, constraint);
    return value === undefined ? [] : [[name, value]];
  });
  return { ...example, ...Object.fromEntries(others) };
}

function permittedValue(name: string, { type, repeated, map }: Field, constraint: FieldConstraint): unknown {
  if (map) return { A: 'b' };
  const value = elementOf(name, type, (repeated ? constraint.items : constraint) ?? {});
  return repeated && value !== undefined ? [value] : value;
}

function elementOf(name: string, type: string, constraint: FieldConstraint): unknown {
  if (type === 'string') return [...(constraint.values ?? []), `${name}-1`, ...TEXTS].find(permits(constraint));
  if (type === 'bool') return true;
  if (Object.hasOwn(enums, type)) return enums[type as keyof typeof enums][1];
  return /^u?int/.test(type) ? Math.min((constraint.minimum ?? 0) + 7, constraint.maximum ?? 7) : undefined;
}

function permits(constraint: FieldConstraint) {
  const check = stringCheck(constraint);
  return (value: string) => {
    try {
      check(value, '');
      return true;
    } catch {
      return false;
    }
  };
}

/** The event that REST creates for a request: the parameters of the path, and a body or a query. */
export function restEvent({ method, path, kind }: Row, request: Fields): Partial<HandlerEvent> {
  const names = Array.from(path.matchAll(/\{(\w+)\+?\}/g), ([, name = '']) => name);
  const pathParameters = Object.fromEntries(names.map((name) => [name, String(request[name])]));
  const left = Object.entries(request).filter(([name]) => !names.includes(name));
  if (kind === 'unary' && ['POST', 'PUT', 'PATCH'].includes(method))
    return { ...json(Object.fromEntries(left)), pathParameters };
  const lists = left.filter(([, value]) => Array.isArray(value));
  const plain = left.filter(([, value]) => !Array.isArray(value));
  const query = plain.flatMap(([name, value]) =>
    typeof value === 'object'
      ? Object.entries(value as object).map(([key, each]) => [`${name}.${key}`, each])
      : [[name, value]],
  );
  const queryStringParameters = Object.fromEntries(query.map(([name, value]) => [name, String(value)]));
  return {
    headers: {},
    pathParameters,
    queryStringParameters,
    queryLists: Object.fromEntries(lists) as Record<string, string[]>,
  };
}

const ROOMS = [
  ...['sandboxes', 'processes', 'sessions', 'networks', 'ports', 'codebases', 'images', 'keys', 'owners', 'secrets'],
];

/** Services whose methods all do the same. */
export function servicesThat(method: (...args: unknown[]) => unknown): object {
  const room = new Proxy({}, { has: () => true, get: (_, name) => (name === 'placeOf' ? () => undefined : method) });
  return Object.fromEntries(ROOMS.map((name) => [name, room]));
}

/** All texts and numbers in a value. */
export function leaves(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(leaves);
  return value === undefined ? [] : [String(value)];
}
