import { answersOf, headers } from './answers.mjs';
import { curlLine } from './curl.mjs';
import { errorResponses, errorSchema, errorsOf } from './errors.mjs';
import { components as parameters, requestOf } from './requests.mjs';
import { Schemas } from './schemas.mjs';
import { firstSentence, textOf, withSentences } from './text.mjs';
import { WEBSOCKET_TEXT, websocket } from './websocket.mjs';

const DESCRIPTION = `Sandboxes for AI agents: codebases, isolated commands and per-path rules enforced in the file system itself.

- Names of fields are those of the .proto files. Integers in answers are numbers; all fit 2^53. In requests an integer may also be a decimal string, an enum its number, and \`null\` stands for an absent field. Times are Unix seconds.
- A body is read as JSON whatever its content type. Unknown fields are refused.
- With \`auth.mode: keys\` a call needs a key (docs/access.md); otherwise none. A ticket in the URL stands for the key where a client cannot send headers.
- Two operations with one path differ by the query parameter \`format\` or \`opened\`. The path of the one that needs it ends with \`#format\` or \`#opened\` here, because a document has one operation for each path and method; a URL's fragment is not sent.
- Besides the statuses of its operations, the server answers 405 for another method, 408 for a request whose headers do not arrive, 417 for an \`Expect\` other than 100-continue, and 431 for headers that are too large.
- Two further paths speak the Model Context Protocol (docs/mcp.md): \`POST /v1/sandboxes/{sandbox_id}/mcp\`, the tools of an agent in one sandbox, and \`POST /mcp\`, the tools of an owner. Each tool is an operation below, with its access and its errors.
- \`x-rpc\` is the method of gRPC. \`x-retry\`: a repeated call changes nothing (\`read\`), has no further effect (\`same\`), takes effect again (\`again\`), or does so unless it has the same \`Idempotency-Key\` (\`key\`). \`x-access\`: the least powerful role that may call it, and the scope that a key with scopes must have.`;

const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'pdk_<id>_<secret>', description: 'A key of the server.' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key', description: 'A key of the server.' },
  ticket: {
    type: 'apiKey',
    in: 'query',
    name: 'ticket',
    description: 'A ticket for this one request; see CreateTicket.',
  },
};
const WITH_TICKET = new Set(['download', 'bytes', 'events', 'attach']);

/** Health is no rpc of the protos. */
const HEALTH = {
  name: 'Health',
  service: 'Health',
  comment: 'Succeeds as long as the server accepts requests.',
  request: undefined,
  response: 'HealthStatus',
};

/**
 * Returns the document of OpenAPI 3.1 for the operations that have a row in the table.
 *
 * @param {{ contract: any, operations: any[], codes: Record<string, { grpc: number, http: number }>, version: string }} source
 */
export function renderDocument({ contract, operations, codes, version }) {
  const schemas = new Schemas(contract);
  schemas.add('Error', errorSchema(codes));
  schemas.add('HealthStatus', {
    type: 'object',
    description: 'Answer of Health.',
    properties: { status: { type: 'string', description: 'Always `ok`.', const: 'ok' } },
    required: ['status'],
  });
  const rpcs = new Map([HEALTH, ...contract.rpcs].map((each) => [each.name, each]));
  const paths = {};
  const ids = new Set();
  for (const row of operations) {
    const rpc = rpcs.get(row.operation);
    if (rpc === undefined) continue;
    const path = pathOf(row, Object.keys(paths));
    const id = ids.has(row.operation) ? `${row.operation}${titled(row.method)}` : row.operation;
    ids.add(id);
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: operationOf(row, { id, path, rpc, schemas }) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Paddock',
      version,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The server that has this document.' }],
    security: [{ bearer: [] }, { apiKey: [] }, {}],
    tags: [
      ...contract.services.map(({ name, comment }) => ({ name, description: textOf(comment) })),
      { name: 'Health', description: 'Whether the server serves. Over gRPC: grpc.health.v1.' },
    ],
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      parameters,
      headers,
      responses: errorResponses(codes),
      schemas: Object.fromEntries(Object.entries(schemas.components).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

/** A path that differs from an earlier one by the names of its parameters has the earlier names. */
function pathOf({ path, query }, earlier) {
  const own = path.replaceAll('+}', '}') + (query ? `#${query}` : '');
  const shapeOf = (each) => each.replace(/\{\w+\}/g, '{}');
  return earlier.find((each) => shapeOf(each) === shapeOf(own)) ?? own;
}

function operationOf(row, { id, path, rpc, schemas }) {
  const { kind, method, access } = row;
  const text = textOf(rpc.comment);
  const fields = rpc.request ? schemas.fieldsOf(rpc.request) : [];
  const full = { ...row, handler: row.handler, request: rpc.request, response: rpc.response };
  const request = requestOf(full, path, fields, schemas);
  const comments = [text, rpc.request && schemas.descriptionOf(rpc.request), ...fields.map(({ comment }) => comment)];
  const isOpen = access.role === 'public';
  return {
    operationId: id,
    tags: [rpc.service],
    summary: firstSentence(text),
    description: withSentences(text, kind === 'attach' ? [`\n\n${WEBSOCKET_TEXT}`] : []),
    ...(isOpen && { security: [] }),
    ...(WITH_TICKET.has(kind) &&
      method === 'GET' && { security: [{ bearer: [] }, { apiKey: [] }, { ticket: [] }, {}] }),
    ...request,
    ...(request.requestBody && { requestBody: withExample(request.requestBody, row.example.body) }),
    responses: { ...answersOf(full, schemas), ...errorsOf(full, comments.join(' ')) },
    ...(!isOpen && { 'x-rpc': `service.v1.${rpc.service}/${rpc.name}` }),
    'x-access': { role: access.role, ...(access.scope && { scope: access.scope }) },
    'x-retry': row.retry,
    ...(kind === 'attach' && { 'x-websocket': websocket }),
    'x-codeSamples': [{ lang: 'Shell', label: 'curl', source: curlLine(row) }],
  };
}

/** What the examples of the document have for the variables of the shell. */
const SAMPLE_VALUES = { $CODEBASE: 'cb_q8f2k1x0', $SANDBOX: 'sb_m3v9d7ta' };

function withExample(requestBody, example) {
  if (example === undefined) return requestBody;
  const text = JSON.stringify(example).replace(/\$[A-Z]+/g, (variable) => SAMPLE_VALUES[variable] ?? variable);
  const content = Object.entries(requestBody.content).map(([type, media]) => [
    type,
    { ...media, example: JSON.parse(text) },
  ]);
  return { ...requestBody, content: Object.fromEntries(content) };
}

const titled = (method) => `${method[0]}${method.slice(1).toLowerCase()}`;
