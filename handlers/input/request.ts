import { invalidArgument } from '../../lib/errors.ts';
import { type Fields, fieldNamed, readingFields, unknownName } from './kinds.ts';
import { quoteName } from './quote-name.ts';
import type { Steps } from './steps.ts';

/** The sources of a request's fields; on gRPC all fields are in the body. */
export interface RequestParts {
  pathParameters?: Readonly<Record<string, string>>;
  queryStringParameters?: Readonly<Record<string, string>>;
  queryLists?: Readonly<Record<string, readonly string[]>>;
  body?: unknown;
}

/**
 * Builds the request message, equal for both protocols: all fields present, with names, types and ranges checked. The
 * threat: a request with the maximum number of paths, rules or variables would keep the main thread for tens of
 * milliseconds.
 */
export function* readingRequest(fields: Fields, parts: RequestParts): Steps<Record<string, unknown>> {
  const { body, pathParameters, queryStringParameters, queryLists } = parts;
  if (!pathParameters && !queryStringParameters && !queryLists) return yield* readingFields(fields, bodyObject(body));
  const query = { ...queryObject(fields, queryStringParameters ?? {}), ...queryLists };
  const source = bodyObject(body);
  for (const [name, value] of Object.entries(pathParameters ?? {})) {
    if (conflicts(source, name, value) || conflicts(query, name, value)) {
      throw invalidArgument(name, 'is not the one in the path; leave it out');
    }
  }
  return yield* readingFields(fields, { ...source, ...query, ...pathParameters });
}

/** The fields in a query. An entry of a map is `field.key=value`. */
function queryObject(fields: Fields, parameters: Readonly<Record<string, string>>): Record<string, unknown> {
  const query: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(parameters)) {
    const dot = name.indexOf('.');
    const field = dot < 0 ? name : name.slice(0, dot);
    const kind = fields[fieldNamed(fields, field) ?? ''];
    if (kind === undefined || (dot >= 0 && !kind.isMap)) throw unknownName(quoteName(name), 'query parameter', fields);
    if (!kind.isMap) query[field] = value;
    else if (dot < 0) throw invalidArgument(field, `is a map: in a query each entry is ${field}.<key>=<value>`);
    else {
      const map = query[field] ?? Object.create(null);
      query[field] = map;
      (map as Record<string, string>)[name.slice(dot + 1)] = value;
    }
  }
  return query;
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
