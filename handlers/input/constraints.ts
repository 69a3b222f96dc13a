import { parseDirectoryPath, parseFilePath } from '../../lib/codebases/file-path.ts';
import { invalidArgument } from '../../lib/errors.ts';
import { quoteName } from './quote-name.ts';

/**
 * What a field refuses beyond its type, as data: handlers enforce it, and generators of documentation and clients read
 * it (the names are JSON Schema's where it has one). An empty string is the field's default, so that only `required` and
 * `minLength` refuse it.
 */
export interface FieldConstraint {
  /** A field of the request that must not be empty; checked when all fields are known to be of their types. */
  required?: true;
  /** Least and greatest integer. */
  minimum?: number;
  maximum?: number;
  /** 0 is allowed although it is below `minimum`. */
  orZero?: true;
  /** Unit of the integer, for the error. */
  unit?: 'seconds';
  /** The integer that 0 stands for. */
  default?: number;
  /** The only strings allowed. */
  values?: readonly string[];
  /** 1: a key must not be empty. */
  minLength?: 1;
  /** Unicode code points of a string. */
  maxLength?: number;
  /** UTF-8 bytes of a string; of a map: of all its entries as `key=value` and NUL. */
  maxBytes?: number;
  pattern?: Pattern;
  format?: keyof typeof FORMATS;
  /** Entries of a map. */
  maxItems?: number;
  /** UTF-8 bytes of one entry of a map: `key=value`. */
  maxEntryBytes?: number;
  /** Each element of a list, each value of a map. */
  items?: FieldConstraint;
  /** Each key of a map. */
  keys?: FieldConstraint;
  /** Fields of a message. */
  fields?: Constraints;
}

/** Constraints of a message by field. */
export type Constraints = Readonly<Record<string, FieldConstraint>>;

interface Pattern {
  /** ECMAScript regular expression with the u flag, for the whole string. */
  source: string;
  /** What is wrong with a string that does not match, after the field's name. */
  problem: string;
}

/** Formats that a regular expression cannot tell. Each throws INVALID_ARGUMENT naming `at`. */
const FORMATS = {
  /** Path of something below the root. */
  'file-path': parseFilePath,
  /** Path of a directory; empty or "/" is the root. */
  'directory-path': parseDirectoryPath,
} as const;

/** Throws INVALID_ARGUMENT for the first string that is required and empty. */
export function checkRequired(request: Readonly<Record<string, unknown>>, constraints: Constraints): void {
  for (const [name, { required }] of Object.entries(constraints)) {
    if (required && request[name] === '') throw invalidArgument(name, 'is required');
  }
}

export function checkString(value: string, at: string, constraint: FieldConstraint): void {
  const { required, values, minLength = 0, maxLength, maxBytes, pattern, format } = constraint;
  if (value === '') {
    if (minLength > 0) throw invalidArgument(at, 'must not be empty');
    return;
  }
  if (values && !values.includes(value)) throw invalidArgument(at, `must be ${orList(values, required)}`);
  if (maxLength !== undefined && longerThan(value, maxLength)) {
    throw invalidArgument(at, `must have at most ${maxLength} characters`);
  }
  if (maxBytes !== undefined && Buffer.byteLength(value) > maxBytes) {
    throw invalidArgument(at, `must have at most ${maxBytes} bytes`);
  }
  if (pattern && !new RegExp(`^(?:${pattern.source})$`, 'u').test(value)) throw invalidArgument(at, pattern.problem);
  if (format) FORMATS[format](at, value);
}

export function checkMap(map: Readonly<Record<string, string>>, at: string, constraint: FieldConstraint): void {
  const { maxItems, maxEntryBytes, maxBytes } = constraint;
  const entries = Object.entries(map);
  if (maxItems !== undefined && entries.length > maxItems) {
    throw invalidArgument(at, `must have at most ${maxItems} entries, not ${entries.length}`);
  }
  if (maxEntryBytes === undefined && maxBytes === undefined) return;
  let bytes = 0;
  for (const [key, value] of entries) {
    const entry = Buffer.byteLength(key) + Buffer.byteLength(value) + 1;
    if (maxEntryBytes !== undefined && entry > maxEntryBytes) {
      throw invalidArgument(`${at}[${quoteName(key)}]`, `must have at most ${maxEntryBytes} bytes with its name`);
    }
    bytes += entry + 1;
  }
  if (maxBytes !== undefined && bytes > maxBytes)
    throw invalidArgument(at, `must have at most ${maxBytes} bytes in all, not ${bytes}`);
}

/** Whether a string has more than `max` code points; counts no further than it must. */
function longerThan(value: string, max: number): boolean {
  return value.length > 2 * max || (value.length > max && Array.from(value).length > max);
}

function orList(values: readonly string[], required: true | undefined): string {
  return [...values, ...(required ? [] : ['empty'])].join(', ').replace(/, (?=[^,]*$)/, ' or ');
}
