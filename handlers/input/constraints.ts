import { parseDirectoryPath, parseFilePath } from '../../lib/codebases/file-path.ts';
import { invalidArgument, type ServiceError } from '../../lib/errors.ts';
import { quoteName } from './quote-name.ts';
import { ENTRIES_PER_STEP, type Steps } from './steps.ts';

/**
 * The constraints of a field beyond its type, as data: handlers enforce them, and generators of documentation and
 * clients read them (names as in JSON Schema where it has one). An empty string is the field's default, so only
 * `required` and `minLength` refuse it.
 */
export interface FieldConstraint {
  /** The field must not be empty; checked after the types of all fields. */
  required?: true;
  /** The field or this other one must not be empty; checked like `required`. */
  requiredWithout?: string;
  /** The field must be empty if this other one is not; checked like `required`. */
  excludes?: string;
  /** Minimum and maximum of an integer. */
  minimum?: number;
  maximum?: number;
  /** 0 is also allowed, although it is below `minimum`. */
  orZero?: true;
  /** Unit of the integer, for the error text. */
  unit?: 'seconds' | 'milliseconds' | 'bytes' | 'microseconds per 100,000';
  /** What to send instead of another type, or what the range means; part of the error text. */
  note?: string;
  /** The effective value of 0. */
  default?: number;
  /** A message that is absent stays so; otherwise its fields have their defaults. */
  mayBeAbsent?: true;
  /** The allowed strings. */
  values?: readonly string[];
  /** 1: a key, or an element of a list, must not be empty. */
  minLength?: 1;
  /** Maximum Unicode code points of a string. */
  maxLength?: number;
  /**
   * Maximum UTF-8 bytes of a string; of a list: of all strings in it together; of a map: of all its entries as
   * `key=value` and NUL.
   */
  maxBytes?: number;
  pattern?: Pattern;
  format?: keyof typeof FORMATS;
  /** Maximum entries of a list or a map. */
  maxItems?: number;
  /** Maximum UTF-8 bytes of one entry of a map: `key=value`. */
  maxEntryBytes?: number;
  /** Constraints of each element of a list or each value of a map. */
  items?: FieldConstraint;
  /** Constraints of each key of a map. */
  keys?: FieldConstraint;
  /** Constraints of the fields of a message. */
  fields?: Constraints;
}

/** Constraints of a message, by field name. */
export type Constraints = Readonly<Record<string, FieldConstraint>>;

interface Pattern {
  /** ECMAScript regular expression with the u flag that must match the whole string. */
  source: string;
  /** Error text for a string that does not match; follows the field's name. */
  problem: string;
}

/** Formats that a regular expression cannot express. Each throws INVALID_ARGUMENT naming `at`. */
const FORMATS = {
  /** A path below the root. */
  'file-path': parseFilePath,
  /** A path of a directory; empty or "/" is the root. */
  'directory-path': parseDirectoryPath,
} as const;

/** Throws INVALID_ARGUMENT for the first required field that is empty, and for fields that exclude each other. */
export function checkRequired(request: Readonly<Record<string, unknown>>, constraints: Constraints): void {
  for (const [name, { required, requiredWithout, excludes }] of Object.entries(constraints)) {
    const absent = isEmpty(request[name]);
    if (absent && (required || (requiredWithout !== undefined && isEmpty(request[requiredWithout])))) {
      throw invalidArgument(name, 'is required');
    }
    if (!absent && excludes !== undefined && !isEmpty(request[excludes])) {
      throw invalidArgument(name, `must be empty with ${excludes}`);
    }
  }
}

/** For strings, lists and bytes. */
function isEmpty(value: unknown): boolean {
  return value === '' || (typeof value === 'object' && value !== null && 'length' in value && value.length === 0);
}

/** Returns the check of a string, which throws INVALID_ARGUMENT naming `at`. The pattern is compiled once. */
export function stringCheck(constraint: FieldConstraint): (value: string, at: string) => void {
  const { values, minLength = 0, maxLength, maxBytes, pattern, format } = constraint;
  const matching = pattern && new RegExp(`^(?:${pattern.source})$`, 'u');
  return (value, at) => {
    if (value === '') {
      if (minLength > 0) throw invalidArgument(at, 'must not be empty');
      return;
    }
    if (values && !values.includes(value)) throw notAString(at, constraint);
    if (maxLength !== undefined && longerThan(value, maxLength)) {
      throw invalidArgument(at, `must have at most ${maxLength} characters`);
    }
    if (maxBytes !== undefined && Buffer.byteLength(value) > maxBytes) {
      throw invalidArgument(at, `must have at most ${maxBytes} bytes`);
    }
    if (matching?.test(value) === false) throw invalidArgument(at, pattern!.problem);
    if (format) FORMATS[format](at, value);
  };
}

/** The error for a value that is no string, or none of the allowed ones. */
export function notAString(at: string, { required, values, note }: FieldConstraint): ServiceError {
  if (values) return invalidArgument(at, `must be ${orList(values, required)}`);
  return invalidArgument(at, `must be a string${note === undefined ? '' : `; ${note}`}`);
}

/** Throws for too many entries of a list or a map; call before the entries are read. */
export function checkCount(count: number, at: string, { maxItems }: FieldConstraint): void {
  if (maxItems === undefined || count <= maxItems) return;
  throw invalidArgument(at, `must have at most ${maxItems} entries, not ${count}`);
}

/** Throws for too many bytes in a list of strings, or of messages with strings. */
export function* checkingList(list: readonly unknown[], at: string, { maxBytes }: FieldConstraint): Steps<void> {
  if (maxBytes === undefined) return;
  let bytes = 0;
  for (const [index, each] of list.entries()) {
    if (index % ENTRIES_PER_STEP === ENTRIES_PER_STEP - 1) yield;
    for (const value of typeof each === 'object' && each !== null ? Object.values(each) : [each]) {
      if (typeof value === 'string') bytes += Buffer.byteLength(value);
    }
  }
  if (bytes > maxBytes) throw invalidArgument(at, `must have at most ${maxBytes} bytes in all, not ${bytes}`);
}

export function* checkingMap(
  map: Readonly<Record<string, string>>,
  at: string,
  constraint: FieldConstraint,
): Steps<void> {
  const { maxEntryBytes, maxBytes } = constraint;
  if (maxEntryBytes === undefined && maxBytes === undefined) return;
  let bytes = 0;
  for (const [index, [key, value]] of Object.entries(map).entries()) {
    if (index % ENTRIES_PER_STEP === ENTRIES_PER_STEP - 1) yield;
    const entry = Buffer.byteLength(key) + Buffer.byteLength(value) + 1;
    if (maxEntryBytes !== undefined && entry > maxEntryBytes) {
      throw invalidArgument(`${at}[${quoteName(key)}]`, `must have at most ${maxEntryBytes} bytes with its name`);
    }
    bytes += entry + 1;
  }
  if (maxBytes !== undefined && bytes > maxBytes)
    throw invalidArgument(at, `must have at most ${maxBytes} bytes in all, not ${bytes}`);
}

/** Whether a string has more than `max` code points; stops counting there. */
function longerThan(value: string, max: number): boolean {
  return value.length > 2 * max || (value.length > max && Array.from(value).length > max);
}

function orList(values: readonly string[], required: true | undefined): string {
  return [...values, ...(required ? [] : ['empty'])].join(', ').replace(/, (?=[^,]*$)/, ' or ');
}
