import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

interface Media {
  'x-lines'?: true;
}

interface Parameter {
  name?: string;
  in?: string;
  schema?: { type?: string };
  'x-rest-of-path'?: true;
  'x-entries'?: string;
  /** The request field, if it has another name. */
  'x-field'?: string;
}

interface Operation {
  operationId: string;
  parameters: Parameter[];
  requestBody?: { content: Record<string, object> };
  responses: Record<string, { content?: Record<string, Media> }>;
}

interface Route {
  path: string;
  method: string;
  pattern: RegExp;
  /** Query parameter that the route needs. */
  query: string | undefined;
  operation: Operation;
}

/** Statuses of requests that reach no operation. */
const BEFORE_ROUTES = new Set([405, 408, 417, 431]);

const document = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'));
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema(closed(document) as object, 'document');
const validators = new Map<string, ValidateFunction>();
// A route with a query parameter precedes the one without.
const routes = routesOf(document.paths).sort((a, b) => Number(b.query !== undefined) - Number(a.query !== undefined));

const ofOperations = new Map(routes.map((route) => [route.operation.operationId, route]));

/** A request as the document describes it. */
export interface DocumentedRequest {
  method: string;
  /** With the query. */
  target: string;
  /** Fields that are not in the path. */
  left: Record<string, unknown>;
  /** They are the JSON body. */
  hasBody: boolean;
}

/** The request of an operation with these fields. A form is sent in the other way that its operation has. */
export function documentedRequest(id: string, fields: object): DocumentedRequest {
  const { path, method, query, operation } = ofOperations.get(`${id}Put`) ?? ofOperations.get(id)!;
  const left: Record<string, unknown> = { ...(query !== undefined && { [query]: 'tar' }), ...fields };
  let target = path.split('#')[0]!;
  for (const { name, in: place, 'x-field': field = name!, 'x-rest-of-path': rest } of operation.parameters) {
    if (place !== 'path') continue;
    const segments = rest ? String(left[field] ?? '').split('/') : [String(left[field] ?? '')];
    target = target.replace(`{${name}}`, () => segments.map(encodeURIComponent).join('/'));
    delete left[field];
  }
  const hasBody = method !== 'GET' && operation.requestBody?.content['application/json'] !== undefined;
  return { method, target: hasBody ? target : `${target}${queryOf(left, operation.parameters)}`, left, hasBody };
}

/** An entry of a map is a parameter `field.key`; each element of a list is a parameter of the same name. */
function queryOf(fields: Record<string, unknown>, parameters: readonly Parameter[]): string {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  const entries = present.flatMap(([name, value]) => {
    if (Array.isArray(value)) return value.map((each) => [name, String(each)]);
    if (typeof value === 'object' && value !== null)
      return Object.entries(value).map(([key, each]) => [`${name}.${key}`, String(each)]);
    // Permission bits are octal there.
    const isText = parameters.some((each) => each.name === name && each.schema?.type === 'string');
    return [[name, typeof value === 'number' && isText ? value.toString(8) : String(value)]];
  });
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries as [string, string][])}`;
}

/** An answer of which the body may still come. */
export interface AnswerHead {
  status: number;
  headers: IncomingHttpHeaders;
}

/** Throws unless the document (docs/openapi.json) has the status and the content type of the answer. */
export function expectDocumented(method: string, target: string, { status, headers }: AnswerHead): void {
  const operation = find(method, target)?.operation;
  if (operation === undefined || BEFORE_ROUTES.has(status)) return;
  const response = resolved(operation.responses[status]);
  const what = `${operation.operationId} (${method} ${target.slice(0, 200)})`;
  if (response === undefined) throw new Error(`docs/openapi.json has no answer ${status} of ${what}`);
  const type = typeOf(headers);
  const types = Object.keys(response.content ?? {});
  if (method !== 'HEAD' && (type === undefined ? types.length > 0 : !types.includes(type)))
    throw new Error(`docs/openapi.json has no answer ${status} with the type ${type} of ${what}`);
}

/** Throws unless the JSON body of an answer has the form that the document gives it, and no other fields. */
export function expectDocumentedBody(method: string, target: string, head: AnswerHead, body: string): void {
  const type = typeOf(head.headers);
  if (type !== 'application/json' || method === 'HEAD') return;
  const route = find(method, target);
  const isError = head.status >= 400;
  // What is not an operation: the document itself.
  if (route === undefined && !isError) return;
  const pointer = route === undefined || isError ? '/components/schemas/Error' : schemaOf(route, head.status, type);
  expectValid(pointer, JSON.parse(body), `the answer ${head.status} to ${method} ${target.slice(0, 200)}`);
}

/**
 * Throws unless the document permits a request that the server accepted. `fields`: those that are not in the path; they
 * are the JSON body, or parameters of the query.
 */
export function expectDocumentedRequest(method: string, target: string, fields: object, isBody: boolean): void {
  const route = find(method, target);
  if (route === undefined) throw new Error(`docs/openapi.json has no ${method} ${target}`);
  const { operationId, requestBody, parameters } = route.operation;
  const what = `the request of ${operationId}`;
  if (isBody && requestBody !== undefined) {
    expectValid(`/components/schemas/${operationId}Request`, fields, what);
    return;
  }
  for (const [name, value] of Object.entries(fields)) {
    const index = isBody ? -1 : parameters.findIndex((each) => each.in === 'query' && each.name === name);
    if (index < 0) throw new Error(`docs/openapi.json has no ${name} of ${operationId}`);
    const pointer = pointerOf('paths', route.path, method.toLowerCase(), 'parameters', String(index), 'schema');
    expectValid(pointer, parameters[index]?.['x-entries'] ? entriesOf(name, value) : value, `${name} of ${what}`);
  }
}

/** A map as the parameters of a query that it is sent as. */
const entriesOf = (name: string, map: object): object =>
  Object.fromEntries(Object.entries(map).map(([key, value]) => [`${name}.${key}`, value]));

/** The same for a line of a stream. */
export function expectDocumentedLine(method: string, target: string, line: unknown): void {
  const route = find(method, target);
  if (route === undefined) throw new Error(`docs/openapi.json has no ${method} ${target}`);
  expectValid(schemaOf(route, 200, 'application/x-ndjson'), line, `a line of ${route.operation.operationId}`);
}

function expectValid(pointer: string, value: unknown, what: string): void {
  const uri = `document#${pointer.split('/').map(encodeURIComponent).join('/')}`;
  const validate = validators.get(uri) ?? ajv.getSchema(uri);
  if (validate === undefined) throw new Error(`docs/openapi.json has no ${pointer}`);
  validators.set(uri, validate);
  if (validate(value)) return;
  const problems = ajv.errorsText(validate.errors?.slice(0, 5), { dataVar: '' });
  const extra = validate.errors?.find(({ params }) => 'additionalProperty' in params)?.params.additionalProperty;
  const shown = JSON.stringify(value).slice(0, 500);
  throw new Error(`${what} is not as in docs/openapi.json: ${problems}${extra ? ` (${extra})` : ''}: ${shown}`);
}

function schemaOf({ path, method }: Route, status: number, type: string): string {
  return pointerOf('paths', path, method.toLowerCase(), 'responses', String(status), 'content', type, 'schema');
}

const pointerOf = (...names: string[]): string =>
  names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

function find(method: string, target: string): Route | undefined {
  const [path = '', query = ''] = target.split(/\?(.*)/s);
  const parameters = new URLSearchParams(query);
  const fitting = routes.filter(
    (route) =>
      route.method === method && route.pattern.test(path) && (route.query === undefined || parameters.has(route.query)),
  );
  return fitting.find(({ query: needed }) => needed !== undefined) ?? fitting[0];
}

function routesOf(paths: Record<string, Record<string, Operation>>): Route[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const [shape = '', query] = path.split('#');
      const takesRest = operation.parameters.some((parameter) => parameter['x-rest-of-path']);
      const source = shape.replace(/\{\w+\}$/, takesRest ? '.+' : '[^/]+').replace(/\{\w+\}/g, '[^/]+');
      return { path, method: method.toUpperCase(), pattern: new RegExp(`^${source}$`), query, operation };
    }),
  );
}

function resolved(response: object | undefined): Operation['responses'][string] | undefined {
  const name = response && '$ref' in response ? String(response.$ref).split('/').at(-1) : undefined;
  return name === undefined ? response : document.components.responses[name];
}

const typeOf = (headers: IncomingHttpHeaders): string | undefined => headers['content-type']?.split(';')[0];

/** A copy in which an object may have no further fields. The document permits them, for clients of later servers. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, closed(each)]));
  const isObject = copy.type === 'object' && copy.properties !== undefined;
  return isObject && copy.additionalProperties === undefined ? { ...copy, additionalProperties: false } : copy;
}
