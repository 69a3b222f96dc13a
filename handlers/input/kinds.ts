import { invalidArgument, type ServiceError } from '../../lib/errors.ts';
import { base64Bytes, checkUnicode } from '../../lib/text-tools/command-input.ts';
import type { FieldConstraint } from './constraints.ts';
import { quoteName } from './quote-name.ts';
import { ENTRIES_PER_STEP, type Steps } from './steps.ts';

/**
 * Reads one field of a request, from JSON (https://protobuf.dev/programming-guides/json/), from a decoded gRPC message
 * or from the text of a URL. `at`: the field's full name, for errors.
 */
export interface Kind<T> {
  /** The value of an absent or null field. */
  absent(): T;
  read(value: unknown, at: string): T;
  /** Of lists and maps: like `read`, in steps of ENTRIES_PER_STEP entries. */
  readonly reading?: (value: unknown, at: string) => Steps<T>;
  /** The value is a map: in a query each entry is a parameter `field.key`. */
  readonly isMap?: true;
  /** Another name of the field. A request that sets both must set them to the same value; the result has the first one. */
  readonly twin?: string;
}

/** The fields of a request: field name to kind. Names are those of the proto; other names are refused. */
export type Fields = Readonly<Record<string, Kind<unknown>>>;

const INT32_MAX = 2 ** 31 - 1;
const DECIMAL = /^-?\d{1,20}$/;

export const string: Kind<string> = {
  absent: () => '',
  read(value, at) {
    if (typeof value !== 'string') throw invalidArgument(at, 'must be a string');
    checkUnicode(value, at);
    return value;
  },
};

export const bool: Kind<boolean> = {
  absent: () => false,
  read(value, at) {
    if (value === true || value === 'true') return true;
    if (value === false || value === 'false') return false;
    throw invalidArgument(at, 'must be true or false');
  },
};

export const bytes: Kind<Uint8Array> = {
  absent: () => new Uint8Array(0),
  read: (value, at) => (value instanceof Uint8Array ? value : base64Bytes(value, at)),
};

/** Bounds of the integer types. Of int64 only the numbers that a JSON number represents exactly are read. */
export const INTEGERS = {
  int64: { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
  int32: { minimum: -INT32_MAX - 1, maximum: INT32_MAX },
  uint32: { minimum: 0, maximum: 2 ** 32 - 1 },
} as const;

/** An integer of a type, or with a narrower range. A default is the effective value of 0 and of absence. */
export function integer(type: keyof typeof INTEGERS, constraint: FieldConstraint): Kind<number> {
  const { minimum, maximum, orZero, unit, note, default: standsFor = 0 } = { ...INTEGERS[type], ...constraint };
  const lowest = maximum === Number.MAX_SAFE_INTEGER ? `at least ${minimum}` : `between ${minimum} and ${maximum}`;
  const range = `${orZero ? '0 or ' : ''}${lowest}${note === undefined ? '' : ` (${note})`}`;
  return {
    absent: () => standsFor,
    read(value, at) {
      const number = typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value;
      if (typeof number !== 'number' || !Number.isInteger(number)) {
        const what = `an integer${unit ? ` of ${unit}` : ''}`;
        throw invalidArgument(at, `must be ${what}, ${range}, as a number or a decimal string`);
      }
      const inside = number >= minimum && number <= maximum && Number.isSafeInteger(number);
      if (inside || (orZero && number === 0)) return number || standsFor;
      const allowed =
        number > Number.MAX_SAFE_INTEGER && maximum === Number.MAX_SAFE_INTEGER ? `at most ${maximum}` : range;
      throw invalidArgument(at, `must be ${allowed}${unit ? ` ${unit}` : ''}`);
    },
  };
}

/** Reads a name of `names`, or its index: the enum numbers of the contract are contiguous from 0. */
export function enumOf(names: readonly string[]): Kind<string> {
  return {
    absent: () => names[0]!,
    read(value, at) {
      const name = typeof value === 'number' ? names[value] : names.find((each) => each === value);
      if (name === undefined) throw invalidArgument(at, `must be one of ${names.join(', ')}`);
      return name;
    },
  };
}

/** A field whose absence differs from its zero value. */
export function optional<T>(kind: Kind<T>): Kind<T | undefined> {
  return { absent: () => undefined, read: kind.read };
}

/** Reads a map<string, string>. The result has no prototype, so that no key is special. */
export function* readingMap(
  keys: Kind<string>,
  values: Kind<string>,
  value: unknown,
  at: string,
): Steps<Record<string, string>> {
  const map: Record<string, string> = Object.create(null);
  let read = 0;
  for (const [key, each] of Object.entries(object(value, at, 'of strings'))) {
    keys.read(key, `a key of ${at}`);
    map[key] = values.read(each, `${at}[${quoteName(key)}]`);
    if (++read % ENTRIES_PER_STEP === 0) yield;
  }
  return map;
}

/** `what`: the entries, for the error text. */
export function* readingList<T>(kind: Kind<T>, what: string, value: unknown, at: string): Steps<T[]> {
  if (!Array.isArray(value)) throw invalidArgument(at, `must be a list of ${what}`);
  const list: T[] = [];
  for (const each of value) {
    list.push(kind.read(each, `${at}[${list.length}]`));
    if (list.length % ENTRIES_PER_STEP === 0) yield;
  }
  return list;
}

export function message(fields: Fields): Kind<object> {
  return {
    absent: () => readFields(fields, {}, ''),
    read: (value, at) => readFields(fields, object(value, at, `with ${Object.keys(fields).join(', ')}`), `${at}.`),
  };
}

/** Reads every field of the table and refuses others. `prefix`: prepended to names in errors. */
export function readFields(fields: Fields, source: object, prefix: string): Record<string, unknown> {
  refuseOthers(fields, source, prefix);
  const result: Record<string, unknown> = {};
  for (const [name, kind] of Object.entries(fields)) {
    const value = givenValue(source, name);
    const read = value === undefined || value === null ? kind.absent() : kind.read(value, `${prefix}${name}`);
    const joined = kind.twin === undefined ? read : withTwin(kind, kind.twin, source, read, prefix + name);
    if (joined !== undefined) result[name] = joined;
  }
  return result;
}

/** Like `readFields`, with lists and maps in steps. */
export function* readingFields(fields: Fields, source: object): Steps<Record<string, unknown>> {
  refuseOthers(fields, source, '');
  const result: Record<string, unknown> = {};
  for (const name in fields) {
    const kind = fields[name]!;
    const value = givenValue(source, name);
    let read: unknown;
    if (value === undefined || value === null || isEmptyOf(kind, value)) read = kind.absent();
    else read = kind.reading ? yield* kind.reading(value, name) : kind.read(value, name);
    if (kind.twin !== undefined) read = withTwin(kind, kind.twin, source, read, name);
    if (read !== undefined) result[name] = read;
  }
  return result;
}

/** Whether it is a list or map without entries, as a decoded gRPC message has for each that was not sent. */
function isEmptyOf({ reading, isMap }: Kind<unknown>, value: unknown): boolean {
  if (reading === undefined || typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return !isMap && value.length === 0;
  for (const _ in value) return false;
  return isMap === true;
}

function refuseOthers(fields: Fields, source: object, prefix: string): void {
  for (const name of Object.keys(source)) {
    if (fieldNamed(fields, name) === undefined) throw unknownName(`${prefix}${quoteName(name)}`, 'field', fields);
  }
}

/** The name in the table of a field that a request calls `name`, which may be its twin. */
export function fieldNamed(fields: Fields, name: string): string | undefined {
  return Object.hasOwn(fields, name) ? name : Object.keys(fields).find((each) => fields[each]!.twin === name);
}

/** The value of a string field, or of its twin. In a decoded gRPC message an absent field is empty. */
function withTwin(kind: Kind<unknown>, twin: string, source: object, read: unknown, at: string): unknown {
  const value = givenValue(source, twin);
  if (value === undefined || value === null || value === '') return read;
  const other = kind.read(value, twin);
  if (read !== kind.absent() && read !== other) throw invalidArgument(twin, `must be absent, or the same as ${at}`);
  return other;
}

const givenValue = (source: object, name: string): unknown =>
  Object.hasOwn(source, name) ? (source as Record<string, unknown>)[name] : undefined;

export function unknownName(name: string, what: string, fields: Fields): ServiceError {
  const allowed = Object.entries(fields)
    .flatMap(([field, { twin }]) => (twin === undefined ? [field] : [field, twin]))
    .join(', ');
  return invalidArgument(name, `is not a known ${what}; ${allowed ? `allowed are ${allowed}` : 'none is allowed'}`);
}

function object(value: unknown, at: string, having: string): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidArgument(at, `must be an object ${having}`);
  return value;
}
