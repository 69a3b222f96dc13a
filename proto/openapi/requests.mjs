// Parameters and bodies of requests, as the adapter for HTTP reads them (adapters/http).
import { stringKeywords } from './constraints.mjs';
import { textOf } from './text.mjs';

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);
const BINARY = { contentMediaType: 'application/octet-stream' };
const OCTAL = { type: 'string', pattern: '^0?[0-7]{1,3}$' };

const parameter = (name) => ({ $ref: `#/components/parameters/${name}` });

export const components = {
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description:
      'An id for the log of the server, which the answer repeats: 1 to 128 letters, digits, and `_ . : -`. Absent, or of another form: the server chooses one.',
    schema: { type: 'string' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'A new random text for each request, and the same one for its repetitions, which have no second effect within 24 hours. With or without double quotes. See docs/retries.md.',
    schema: { type: 'string', pattern: '^("?)[\\w.~:/+=@-]{1,255}\\1$' },
  },
  Range: {
    name: 'Range',
    in: 'header',
    description:
      'One range of bytes: the answer is 206, or 416 for one beyond the end. Several ranges: the whole file.',
    schema: { type: 'string' },
    example: 'bytes=0-1023',
  },
  IfRange: {
    name: 'If-Range',
    in: 'header',
    description: 'ETag for which `Range` is obeyed. If the file has another one by now, the answer is the whole file.',
    schema: { type: 'string' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'ETags that the client has. The answer is 304 if the file has one of them.',
    schema: { type: 'string' },
  },
  LastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    description:
      'The `id` of the last server-sent event: the stream goes on after it, whatever `offset` is. After the last event of all: 204.',
    schema: { type: 'string' },
  },
};

/**
 * The parameters and the body of a row of the table of operations. `path`: the one of the document, which may have other
 * names; `fields`: those of its request.
 */
export function requestOf(row, path, fields, schemas) {
  const { kind, method } = row;
  const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name);
  const inPath = Array.from(row.path.matchAll(/\{(\w+)(\+?)\}/g), ([, name, rest], index) => ({
    name,
    shown: names[index],
    rest: rest !== '',
  }));
  const others = fields.filter(({ name }) => name !== 'chunk' && !inPath.some((each) => each.name === name));
  const hasJson = (kind === 'unary' || kind === 'events') && WITH_BODY.has(method);
  const query = hasJson || kind === 'multipart' || kind === 'attach' ? [] : others;
  return {
    parameters: [
      ...inPath.map((each) => pathParameter(each, fields, row, schemas)),
      ...query.flatMap((field) => queryParameter(field, row, schemas)),
      ...(kind === 'attach' ? attachParameters(others, schemas) : []),
      ...headersOf(row),
    ],
    ...bodyOf(row, others, schemas),
  };
}

function pathParameter({ name, shown, rest }, fields, { handler }, schemas) {
  const field = fields.find((each) => each.name === name);
  const constraints = { ...handler.constraints, [name]: { ...handler.constraints[name], required: true } };
  const { description, ...schema } = schemas.inputField(field, constraints);
  const slashes = ' Slashes are part of it, as they are or as %2F.';
  return {
    name: shown,
    in: 'path',
    required: true,
    description: rest ? `${description}${slashes}` : description,
    schema,
    ...(rest && { 'x-rest-of-path': true }),
    ...(shown !== name && { 'x-field': name }),
  };
}

function queryParameter(field, row, schemas) {
  const { name } = field;
  const { constraints } = row.handler;
  const required = name === row.query || constraints[name]?.required === true;
  const given = required ? { ...constraints, [name]: { ...constraints[name], required: true } } : constraints;
  const { description, ...schema } = schemas.inputField(field, given);
  const common = { name, in: 'query', ...(required && { required }), description };
  if (row.kind === 'raw' && name === 'mode' && row.operation !== 'ImportCodebaseFiles')
    return {
      ...common,
      description: description.replace('Permission bits', 'Permission bits in octal'),
      schema: OCTAL,
    };
  if (!field.map) return { ...common, schema };
  const constraint = constraints[name] ?? {};
  // A parameter for each entry, `labels.<key>=<value>`: the properties of an exploded object.
  const entries = {
    type: 'object',
    patternProperties: { [`^${name}\\.`]: { type: 'string', ...stringKeywords(constraint.items ?? {}) } },
    additionalProperties: false,
    ...(constraint.maxItems !== undefined && { maxProperties: constraint.maxItems }),
  };
  return { ...common, style: 'form', explode: true, schema: entries, 'x-entries': `${name}.<key>` };
}

/** With the names of OpenSandbox (adapters/http/attach/query.ts). */
function attachParameters(fields, schemas) {
  const described = (name) => textOf(fields.find((field) => field.name === name).comment);
  const flag = { type: 'string', enum: ['1', '0', 'true', 'false'] };
  const { description: _, ...offset } = schemas.inputField(
    fields.find(({ name }) => name === 'offset'),
    { offset: { minimum: 0 } },
  );
  return [
    { name: 'offset', in: 'query', description: described('offset'), schema: offset },
    { name: 'since', in: 'query', description: 'Another name of `offset`.', schema: offset },
    { name: 'takeover', in: 'query', description: described('takeover'), schema: flag },
    {
      name: 'pty',
      in: 'query',
      description: 'Refuse the call unless the process has a terminal (1) or has none (0).',
      schema: flag,
    },
  ];
}

function headersOf({ kind, method, retry, cursor }) {
  const ranges = method === 'GET' ? ['Range', 'IfRange'] : [];
  return [
    ...(retry === 'key' ? ['IdempotencyKey'] : []),
    ...(kind === 'download' ? [...ranges, 'IfNoneMatch'] : []),
    ...(cursor ? ['LastEventId'] : []),
    'RequestId',
  ].map(parameter);
}

function bodyOf(row, fields, schemas) {
  const { kind, method, operation, handler } = row;
  if (kind === 'raw') return { requestBody: rawBody(operation) };
  if (kind === 'multipart') return { requestBody: formBody(fields, schemas) };
  if (!WITH_BODY.has(method) || fields.length === 0) return {};
  const schema = schemas.input(fields, handler.constraints, schemas.descriptionOf(row.request));
  const required = schema.required !== undefined;
  if (!handler.patch) return { requestBody: { required, content: json(schemas.add(`${operation}Request`, schema)) } };
  const patch = schemas.add(`${operation}Request`, mergePatch(schema, handler.patch));
  return { requestBody: { required, content: { ...json(patch), 'application/merge-patch+json': { schema: patch } } } };
}

const json = (schema) => ({ 'application/json': { schema } });

/** RFC 7396, with the values that null stands for (handlers/input/merge-patch.ts). */
function mergePatch(schema, { removes, resets }) {
  const properties = { ...schema.properties };
  const orNull = (property) => ({
    ...property,
    type: [property.type, 'null'],
    ...(property.enum && { enum: [...property.enum, null] }),
  });
  for (const name of Object.keys(resets)) properties[name] = orNull(properties[name]);
  for (const name of Object.keys(removes)) {
    const map = properties[name];
    properties[name] = { ...orNull(map), additionalProperties: orNull(map.additionalProperties) };
  }
  return { ...schema, properties };
}

function rawBody(operation) {
  if (operation === 'WriteProcessInput') return bytesBody('The bytes to write.');
  if (!operation.startsWith('Import')) return bytesBody('The contents of the file, of any length.');
  return bytesBody('The archive, plain or compressed with gzip or zstd.', 'application/x-tar');
}

/** The content type of the request is not read. */
function bytesBody(description, type = 'application/octet-stream') {
  return { description, content: { [type]: { schema: BINARY } } };
}

function formBody(fields, schemas) {
  const property = (name) => schemas.inputField(fields.find((field) => field.name === name) ?? PATH);
  const properties = {
    path: { ...property('path'), description: 'Path of the next file. Absent: the name of the file in the form.' },
    mode: { description: 'Permission bits of the next file in octal. Absent: 0644.', ...OCTAL },
    symlink_target: property('symlink_target'),
    file: { ...BINARY, description: 'The contents of a file. A form may have several files, each after its fields.' },
  };
  const schema = { type: 'object', properties, required: ['file'], additionalProperties: false };
  return { required: true, content: { 'multipart/form-data': { schema } } };
}

const PATH = { name: 'path', comment: 'Path.', kind: 'scalar', type: 'string' };
