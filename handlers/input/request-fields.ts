import { enums, fields, rpcs } from '../../lib/contract/schema.ts';
import {
  type Constraints,
  checkCount,
  checkingList,
  checkingMap,
  type FieldConstraint,
  notAString,
  stringCheck,
} from './constraints.ts';
import {
  bool,
  bytes,
  enumOf,
  type Fields,
  INTEGERS,
  integer,
  type Kind,
  message,
  optional,
  readingList,
  readingMap,
  string,
} from './kinds.ts';
import { complete, type Steps } from './steps.ts';

export type Rpc = keyof typeof rpcs;

interface Field {
  type: string;
  repeated?: boolean;
  map?: boolean;
  optional?: boolean;
  /** Another name of the field. */
  twin?: string;
}

/**
 * Returns the readers of an rpc's request fields. The bytes of a client stream are not a field. Throws for a constraint
 * on a field that the request does not have.
 */
export function requestFields(rpc: Rpc, constraints: Constraints): Fields {
  const { request, requestStream } = rpcs[rpc];
  const { chunk, ...others } = fieldsOf(request, constraints);
  return requestStream || chunk === undefined ? others : { ...others, chunk };
}

function fieldsOf(messageName: string, constraints: Constraints): Fields {
  const declared: Readonly<Record<string, Field>> = fields[messageName as keyof typeof fields];
  for (const name of Object.keys(constraints)) {
    if (!Object.hasOwn(declared, name)) throw new Error(`${messageName} has no field ${name} to constrain`);
  }
  return Object.fromEntries(
    Object.entries(declared).map(([name, field]) => {
      const kind = kindOf(field, constraints[name]);
      return [name, field.twin === undefined ? kind : { ...kind, twin: field.twin }];
    }),
  );
}

function kindOf(field: Field, constraint: FieldConstraint = {}): Kind<unknown> {
  if (field.map) return mapOf(constraint);
  if (field.repeated) return listOf(field.type, constraint);
  const kind = elementOf(field.type, constraint);
  return field.optional || constraint.mayBeAbsent ? optional(kind) : kind;
}

function elementOf(type: string, constraint: FieldConstraint): Kind<unknown> {
  if (type === 'string') return stringWithin(constraint);
  if (type === 'bool') return bool;
  if (type === 'bytes') return bytes;
  if (isInteger(type)) return integer(type, constraint);
  if (Object.hasOwn(enums, type)) return enumOf(enums[type as keyof typeof enums]);
  return message(fieldsOf(type, constraint.fields ?? {}));
}

function isInteger(type: string): type is keyof typeof INTEGERS {
  return Object.hasOwn(INTEGERS, type);
}

function listOf(type: string, constraint: FieldConstraint): Kind<unknown[]> {
  const element = elementOf(type, constraint.items ?? {});
  const what = Object.hasOwn(fields, type) ? 'objects' : `${type}s`;
  return inSteps<unknown[]>({
    absent: () => [],
    *reading(value, at) {
      if (Array.isArray(value)) checkCount(value.length, at, constraint);
      const list = yield* readingList(element, what, value, at);
      yield* checkingList(list, at, constraint);
      return list;
    },
  });
}

function stringWithin(constraint: FieldConstraint): Kind<string> {
  const check = stringCheck(constraint);
  return {
    absent: () => '',
    read(value, at) {
      if (typeof value !== 'string') throw notAString(at, constraint);
      const text = string.read(value, at);
      check(text, at);
      return text;
    },
  };
}

function mapOf(constraint: FieldConstraint): Kind<Record<string, string>> {
  const [keys, values] = [stringWithin(constraint.keys ?? {}), stringWithin(constraint.items ?? {})];
  return inSteps<Record<string, string>>({
    isMap: true,
    absent: () => Object.create(null),
    *reading(value, at) {
      if (typeof value === 'object' && value !== null) checkCount(Object.keys(value).length, at, constraint);
      const map = yield* readingMap(keys, values, value, at);
      yield* checkingMap(map, at, constraint);
      return map;
    },
  });
}

function inSteps<T>(kind: Omit<Kind<T>, 'read'> & { reading(value: unknown, at: string): Steps<T> }): Kind<T> {
  return { ...kind, read: (value, at) => complete(kind.reading(value, at)) };
}
