// Successful answers, as the adapter for HTTP sends them (adapters/http).
import { HEADER_NAMES } from './errors.mjs';

const BINARY = { contentMediaType: 'application/octet-stream' };
const FORMATS = { tar: 'application/x-tar', patch: 'text/x-diff' };
const RATE = ['RateLimit', 'RateRemaining', 'RateReset'];

const integer = (description) => ({ description, schema: { type: 'integer', minimum: 0 } });
const string = (description) => ({ description, schema: { type: 'string' } });

export const headers = {
  RequestId: string('The id of the request, in the log of the server too.'),
  WWWAuthenticate: string('Bearer'),
  RetryAfter: integer('Seconds after which the call can be repeated. Absent: time alone does not help.'),
  RateLimit: integer('Requests that the key or its owner may send at once. Absent: there is no limit.'),
  RateRemaining: integer('Requests of those that are left.'),
  RateReset: integer('Seconds until all of them are back.'),
  ETag: string('Tag of this version of the file.'),
  LastModified: string('Time of the last change of the contents.'),
  AcceptRanges: string('bytes'),
  ContentRange: string('The range of this answer, and the size of the file; of an error only the size.'),
};

const withHeaders = (...names) =>
  Object.fromEntries(names.map((name) => [HEADER_NAMES[name], { $ref: `#/components/headers/${name}` }]));

/** The successful answers of a row of the table of operations, by status. */
export function answersOf(row, schemas) {
  const common = row.access.role === 'public' ? ['RequestId'] : ['RequestId', ...RATE];
  return KINDS[row.kind](row, schemas, common);
}

const KINDS = {
  unary: unaryAnswers,
  raw: unaryAnswers,
  multipart: formAnswers,
  events: eventAnswers,
  download: downloadAnswers,
  bytes: bytesAnswers,
  attach: attachAnswers,
};

const json = (description, schema, common) => ({
  200: { description, headers: withHeaders(...common), content: { 'application/json': { schema } } },
});

function unaryAnswers({ response, operation }, schemas, common) {
  const schema = schemas.answer(response);
  return json(response === 'Empty' ? 'It is done.' : `The answer of ${operation}.`, schema, common);
}

/** One file has the answer of PUT; several have a list. */
function formAnswers({ response }, schemas, common) {
  const { type, properties, required } = schemas.components[schemas.answer(response).$ref.split('/').at(-1)];
  const stored = { path: { type: 'string', description: 'Path of the file.' }, ...properties };
  const list = schemas.add('StoredFiles', {
    type: 'object',
    description: 'The files of a form with several files.',
    properties: {
      files: { type: 'array', items: { type, properties: stored, required: ['path', ...required] } },
    },
    required: ['files'],
  });
  return json('The file that was stored, or the list of several.', { anyOf: [schemas.answer(response), list] }, common);
}

function eventAnswers({ response, cursor }, schemas, common) {
  const line = schemas.add(`${response}Line`, {
    description: 'A line of the stream. An error is the last one.',
    anyOf: [
      schemas.answer(response),
      {
        type: 'object',
        properties: { error: { $ref: '#/components/schemas/Error' } },
        required: ['error'],
      },
    ],
  });
  const octets =
    'A frame for each message, if `Accept` names this type: the length of its JSON and that of its octets (4 bytes each, highest first), the JSON without `data`, and the octets of `data`.';
  const events = 'Server-sent events, each with such a line as its `data`, if the header `Accept` names this type.';
  return {
    200: {
      description: 'The messages, each sent as soon as it exists. An error after the first byte is the last message.',
      headers: withHeaders(...common),
      content: {
        'application/x-ndjson': { schema: line, 'x-lines': true },
        'text/event-stream': { schema: { type: 'string', description: events } },
        'application/octet-stream': { schema: { ...BINARY, description: octets } },
      },
    },
    ...(cursor && { 204: { description: 'The client has the last event.', headers: withHeaders(...common) } }),
  };
}

const FILE = ['ETag', 'LastModified', 'AcceptRanges'];

function downloadAnswers({ method }, _, common) {
  const content = method === 'HEAD' ? {} : { content: { 'application/octet-stream': { schema: BINARY } } };
  const whole = { description: 'The contents of the file.', headers: withHeaders(...common, ...FILE), ...content };
  const part = { description: 'The range.', headers: withHeaders(...common, ...FILE, 'ContentRange'), ...content };
  return {
    200: method === 'HEAD' ? { ...whole, description: 'The headers of the file.' } : whole,
    ...(method === 'GET' && { 206: part }),
    304: { description: 'The client has this version.', headers: withHeaders(...common, ...FILE) },
  };
}

function bytesAnswers({ handler }, _, common) {
  const content = Object.fromEntries(
    handler.constraints.format.values.map((format) => [FORMATS[format], { schema: BINARY }]),
  );
  const description = 'The bytes. An error after the first one closes the connection before the end of the body.';
  return { 200: { description, headers: withHeaders(...common), content } };
}

function attachAnswers(_, __, common) {
  return { 101: { description: 'The connection is a WebSocket.', headers: withHeaders(...common) } };
}
