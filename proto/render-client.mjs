// Renders the TypeScript client's view of the contract: names in camelCase, and of a request only what must be set.
import {
  checksOf,
  commentOf,
  durationsOf,
  formsOf,
  isOptionalTime,
  isTime,
  listedOf,
  namesOf,
  prefixesOf,
  prefixOf,
  wordsOf,
} from './client-forms.mjs';
import { doc, typeOf } from './render-messages.mjs';

const HEADER = '// Generated from proto/service/v1 and handlers/index.ts by `npm run generate`; do not edit.\n';
/** Fields of requests that are the body of the HTTP request. */
const BODY_FIELD = 'chunk';

const camel = (name) => name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());
const methodName = (rpc) => rpc[0].toLowerCase() + rpc.slice(1);
const pathFields = (path) => [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => name);

export const requiredFields = ({ path, handler }) => [
  ...pathFields(path),
  ...Object.entries(handler.constraints ?? {}).flatMap(([name, { required }]) => (required ? [name] : [])),
];

/** The row of each operation that the client uses: the first one, but neither of HEAD nor of multipart. */
export function rowsOf(operations) {
  const rows = new Map();
  for (const row of operations) {
    if (row.method === 'HEAD' || row.kind === 'multipart' || rows.has(row.operation)) continue;
    rows.set(row.operation, row);
  }
  return rows;
}

/** Returns the types of all enums and messages. */
export function renderClientMessages({ enums, messages, rpcs }, operations) {
  const rows = rowsOf(operations);
  const requests = new Map(rpcs.map(({ name, request }) => [request, rows.get(name)]));
  const lists = new Set(
    rpcs
      .filter(({ response }) => listedOf(messages.find(({ name }) => name === response)))
      .map(({ request }) => request),
  );
  const words = wordsOf(enums);
  const parts = [
    HEADER,
    "import type { Duration } from '../duration.ts';\n",
    '/* Fields have the names of the contract in camelCase, enums are its words in lower case, times are Dates. */\n',
    ...enums.map((each) => renderEnum(each, words)),
    ...messages.map((message) => renderMessage(message, { requests, lists, durations: durationsOf({ messages }) })),
  ];
  return inWords(parts.join('\n'), words);
}

/** Comments, too, have the clients' words. */
export const inWords = (text, words) =>
  text.replace(/\b[A-Z]+_[A-Z]+\b/g, (name) => (Object.hasOwn(words, name) ? `"${words[name]}"` : name));

function renderEnum({ name, comment, values }, words) {
  const lines = values.map((value) => `${doc(value.comment, '  ')}  | '${words[value.name]}'`);
  return `${doc(comment)}export type ${name} =\n${lines.join('\n')};\n`;
}

function renderMessage({ name, comment, fields }, { requests, lists, durations }) {
  const isList = lists.has(name);
  const row = requests.get(name);
  const required = row && requiredFields(row);
  const own = fields.filter(
    (field) => !field.isTwin && !(row?.kind === 'raw' && field.name === BODY_FIELD) && !(isList && isPaging(field)),
  );
  if (own.length === 0) return `${doc(comment)}export type ${name} = Record<string, never>;\n`;
  const lines = own.map((field) => {
    const optional = requests.has(name) ? !required.includes(field.name) : isOptional(field);
    const type = requests.has(name) ? typeOfInput(field, durations) : isTime(field) ? 'Date' : typeOf(field);
    const mark = optional ? '?' : '';
    const isDuration = requests.has(name) && durations.has(field.name);
    const comment = commentOf(field).replace(isDuration ? /\b(Seconds|Milliseconds)\b/ : /$^/, 'Time');
    return `${doc(comment, '  ')}  ${camel(field.name)}${mark}: ${type}${optional ? ' | undefined' : ''};\n`;
  });
  return `${doc(comment)}export interface ${name} {\n${lines.join('')}}\n`;
}

const isOptional = (field) =>
  field.optional || isOptionalTime(field) || (field.kind === 'message' && !field.repeated && !field.map);

/** In a request a field of a message may be left out, and a time limit has its unit. */
function typeOfInput(field, durations) {
  if (durations.has(field.name)) return 'Duration';
  if (field.kind !== 'message') return typeOf(field);
  const { type, repeated } = field;
  return repeated ? `readonly Partial<${type}>[]` : `Partial<${type}>`;
}

const ignoringCase = (a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1);

/** Returns the table of operations, and the interface with one method for each. */
export function renderClientOperations(contract, operations, version) {
  const { enums, messages, rpcs } = contract;
  const rows = rowsOf(operations);
  const byName = new Map(messages.map((message) => [message.name, message]));
  const entries = [...rows].map(([name, row]) => renderRow(name, row, rpcs, byName));
  const checks = checksOf(
    [...rows].map(([name, { handler }]) => ({
      operation: methodName(name),
      fields: givenFields(
        rpcs.find((each) => each.name === name),
        byName,
      ),
      constraints: handler.constraints ?? {},
    })),
    durationsOf(contract),
  );
  const methods = [...rows].map(([name, row]) => renderMethod(name, row, rpcs, byName));
  const used = [...new Set(methods.flatMap(({ types }) => types))].sort(ignoringCase);
  const text = [
    HEADER,
    "import type { Body, CallOptions } from '../http/call.ts';",
    `import type {\n${used.map((name) => `  ${name},\n`).join('')}} from './messages.ts';\n`,
    `/** Of this package. */\nexport const VERSION = '${version}';\n`,
    `/** Fields whose values are converted, by name. The keys of a map are the caller's own. */\n${constant('forms', formsOf(contract))}`,
    `/** Lengths of time in requests, by name: how many units of the wire are a second. */\n${constant('durations', Object.fromEntries(durationsOf(contract)), 'number')}`,
    `/** The values of enums in requests, by the name of the field. */\n${renderEnums(contract)}`,
    `/** What the fields of requests must be, if it is not "string": by name, and by "operation.name". */\n${constant('checks', inCamel(checks))}`,
    `/** How each operation is called over HTTP. */\nexport const operations = {\n${entries.join('')}} as const;\n`,
    `/** One method for each operation of the service. */\nexport interface Operations {\n${methods.map(({ text }) => text).join('')}}\n`,
  ].join('\n');
  return inWords(text, wordsOf(enums));
}

function renderEnums(contract) {
  const lines = Object.entries(prefixesOf(contract)).map(([field, prefix]) => {
    const { values } = contract.enums.find((each) => prefixOf(each) === prefix);
    const words = values.map(({ name }) => `'${name.slice(prefix.length).toLowerCase()}'`).join(', ');
    return `  ${field}: { prefix: '${prefix}', words: [${words}] },\n`;
  });
  const type = 'Readonly<Record<string, { prefix: string; words: readonly string[] }>>';
  return `export const enums: ${type} = {\n${lines.join('')}};\n`;
}

/** Lists ask for their pages themselves. */
const isPaging = ({ name }) => name === 'page_size' || name === 'page_token';

/** The fields that a caller may give. */
const givenFields = (rpc, byName) =>
  (byName.get(rpc?.request)?.fields ?? []).filter(
    (field) => !field.isTwin && field.name !== BODY_FIELD && !isPaging(field),
  );

const inCamel = (values) => Object.fromEntries(Object.entries(values).map(([name, value]) => [camel(name), value]));

const constant = (name, values, type = 'string') =>
  `export const ${name}: Readonly<Record<string, ${type}>> = {\n${Object.entries(values)
    .map(
      ([field, value]) =>
        `  ${field.includes('.') ? `'${field}'` : field}: ${type === 'string' ? `'${value}'` : value},\n`,
    )
    .join('')}};\n`;

function renderRow(name, { method, path, kind, retry, query, cursor, handler }, rpcs, byName) {
  const rpc = rpcs.find((each) => each.name === name);
  const list = listedOf(byName.get(rpc?.response));
  const template = path.replace(/\{(\w+)(\+?)\}/g, (_, field, more) => `{${camel(field)}${more}}`);
  const names = namesOf(givenFields(rpc, byName), requiredFields({ path, handler }), handler.constraints ?? {});
  const fields = { method, path: template, kind, retry, fields: camel(names) };
  if (query) fields.query = query;
  if (cursor) Object.assign(fields, { cursor: cursor.from, position: cursor.id });
  if (rpc?.response === 'Empty') fields.empty = true;
  if (list) fields.list = camel(list.name);
  if (list && byName.get(rpc.request).fields.some(isPaging)) fields.pages = true;
  const text = Object.entries(fields).map(
    ([key, value]) => `${key}: ${typeof value === 'string' ? `'${value}'` : value}`,
  );
  return `  ${methodName(name)}: { ${text.join(', ')} },\n`;
}

function renderMethod(name, row, rpcs, byName) {
  const rpc = rpcs.find((each) => each.name === name);
  const request = rpc?.request;
  const response = rpc === undefined ? '{ status: string }' : rpc.response === 'Empty' ? 'void' : rpc.response;
  const isAttach = row.kind === 'attach';
  if (isAttach) return { text: '', types: [] };
  const list = listedOf(byName.get(rpc?.response));
  const fields = (byName.get(request)?.fields ?? []).filter((field) => !list || !isPaging(field));
  const mark = requiredFields(row).length === 0 ? '?' : '';
  const isEmpty = fields.length === 0;
  const type = isEmpty ? 'Record<string, never>' : request;
  const body = row.kind === 'raw' ? 'body: Body, ' : '';
  const comment = rpc?.comment ?? 'Whether the service is up. Needs no key.';
  const answers = {
    events: `AsyncGenerator<${response}, void, void>`,
    download: 'Promise<Response>',
    bytes: 'Promise<Response>',
  };
  const answer = list ? `AsyncGenerator<${list.type}, void, void>` : `Promise<${response}>`;
  const text = `${doc(comment, '  ')}  ${methodName(name)}(request${mark}: ${type}, ${body}options?: CallOptions): ${answers[row.kind] ?? answer};\n`;
  const shown = row.kind === 'download' || row.kind === 'bytes' ? [] : [list?.type ?? response];
  return { text, types: [...(isEmpty ? [] : [request]), ...shown].filter((each) => byName.has(each)) };
}
