const SCALARS = {
  string: 'string',
  bool: 'boolean',
  bytes: 'Uint8Array',
  int32: 'number',
  int64: 'number',
  uint32: 'number',
};

const HEADER = `// Generated from proto/service/v1 by \`npm run generate\`; do not edit.

/*
 * The messages in the form that handlers and lib use, for both protocols: proto field names, enums by name, int64 as
 * number (all values fit 2^53). A field that only stands for another one is left out. In a request every message field is
 * present, because parsing a request adds missing ones; in other messages it may be absent.
 */
`;

/** Returns the TypeScript types of all enums, messages and rpcs. */
export function renderMessages({ enums, messages, rpcs }) {
  const requests = requestTypes(messages, rpcs);
  const parts = [
    HEADER,
    ...enums.map(renderEnum),
    ...messages.map((message) => renderMessage(message, requests.has(message.name))),
    `/** google.protobuf.Empty. */\nexport type Empty = Record<string, never>;\n`,
    renderRpcs(rpcs),
  ];
  return parts.join('\n');
}

/** Returns the names of all requests and of the messages in them. */
export function requestTypes(messages, rpcs) {
  const byName = new Map(messages.map((message) => [message.name, message]));
  const found = new Set();
  const visit = (name) => {
    if (found.has(name)) return;
    found.add(name);
    for (const field of byName.get(name).fields) if (field.kind === 'message') visit(field.type);
  };
  for (const { request } of rpcs) visit(request);
  return found;
}

function renderEnum({ name, comment, values }) {
  const lines = values.map((value) => `${doc(value.comment, '  ')}  '${value.name}',\n`);
  return `${doc(comment)}export const ${name} = [\n${lines.join('')}] as const;\nexport type ${name} = (typeof ${name})[number];\n`;
}

function renderMessage({ name, comment, fields }, request) {
  if (fields.length === 0) return `${doc(comment)}export type ${name} = Record<string, never>;\n`;
  const own = fields.filter(({ isTwin }) => !isTwin);
  const lines = own.map(
    (field) => `${doc(field.comment, '  ')}  ${field.name}${mark(field, request)}: ${typeOf(field)};\n`,
  );
  return `${doc(comment)}export interface ${name} {\n${lines.join('')}}\n`;
}

function mark({ kind, repeated, map, optional }, request) {
  return optional || (kind === 'message' && !repeated && !map && !request) ? '?' : '';
}

export function typeOf({ type, kind, repeated, map }) {
  const element = kind === 'scalar' ? SCALARS[type] : type;
  if (element === undefined) throw new Error(`fields of type ${type} are not supported`);
  if (map) return `Record<string, ${element}>`;
  return repeated ? `readonly ${element}[]` : element;
}

function renderRpcs(rpcs) {
  const lines = rpcs.map(
    ({ name, comment, request, response }) =>
      `${doc(comment, '  ')}  ${name}: { request: ${request}; response: ${response} };\n`,
  );
  return `/** Messages of each rpc; of a stream, each of its messages. */\nexport interface Rpcs {\n${lines.join('')}}\n`;
}

export function doc(comment, indent = '') {
  const lines = comment.split('\n');
  if (lines.length === 1) return `${indent}/** ${comment} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} *${line && ` ${line}`}\n`).join('')}${indent} */\n`;
}
