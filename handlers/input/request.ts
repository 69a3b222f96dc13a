import { invalidArgument } from '../../lib/errors.ts';
import { type Fields, readFields, unknownName } from './kinds.ts';
import { quoteName } from './quote-name.ts';

/** The sources of a request's fields; on gRPC all fields are in the body. */
export interface RequestParts {
  pathParameters?: Readonly<Record<string, string>>;
  queryStringParameters?: Readonly<Record<string, string>>;
  body?: unknown;
}

/** Builds the request message, equal for both protocols: all fields present, with names, types and ranges checked. */
export function readRequest(fields: Fields, parts: RequestParts): Record<string, unknown> {
  const { body, pathParameters, queryStringParameters } = parts;
  if (!pathParameters && !queryStringParameters) return readFields(fields, bodyObject(body), '');
  for (const name of Object.keys(queryStringParameters ?? {})) {
    if (!Object.hasOwn(fields, name)) throw unknownName(quoteName(name), 'query parameter', fields);
  }
  const source = bodyObject(body);
  for (const [name, value] of Object.entries(pathParameters ?? {})) {
    if (conflicts(source, name, value) || conflicts(queryStringParameters ?? {}, name, value)) {
      throw invalidArgument(name, 'is not the one in the path; leave it out');
    }
  }
  return readFields(fields, { ...source, ...queryStringParameters, ...pathParameters }, '');
}

function bodyObject(body: unknown): object {
  if (body === undefined) return {};
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw invalidArgument('the request body', 'must be a JSON object');
}

function conflicts(source: object, name: string, value: string): boolean {
  const other = Object.hasOwn(source, name) ? (source as Record<string, unknown>)[name] : undefined;
  return other !== undefined && other !== null && other !== '' && other !== value;
}
