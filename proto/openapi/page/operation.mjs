import { html, inline, markdown } from './html.mjs';
import { limitsOf, typeOf } from './types.mjs';

const RETRY = {
  read: 'A repeated call changes nothing.',
  same: 'A repeated call has no further effect; it may be refused.',
  again: 'A repeated call takes effect again.',
  key: 'A repeated call takes effect again, unless both have the same `Idempotency-Key`.',
};
const STATUS = { 101: 'Switching protocols', 200: 'Success', 204: 'Nothing more', 206: 'Part', 304: 'Not modified' };

/** One operation, folded. `resolve` follows a reference. */
export function operationHtml({ path, method, operation }, resolve) {
  const { operationId, summary, description, parameters, requestBody, responses } = operation;
  const shown = path.split('#')[0] + (path.includes('#') ? '?format=' : '');
  const resolved = parameters.map(resolve);
  const named = (place) => resolved.filter((each) => each.in === place);
  const [{ source }] = operation['x-codeSamples'];
  return html`<details class="op" id="${operationId}" data-find="${findable(operation, path, resolved)}">
<summary><span class="method ${method}">${method.toUpperCase()}</span> <code class="path">${breakable(shown)}</code> <b>${operationId}</b> <span class="sum">${inline(summary)}</span></summary>
<div class="body">
${markdown(description)}
<p class="meta">${accessOf(operation)} ${inline(RETRY[operation['x-retry']])}${operation['x-rpc'] && html` gRPC: <code>${operation['x-rpc']}</code>`}</p>
<div class="curl"><pre><code>${source}</code></pre><button type="button" class="copy" hidden>Copy</button></div>
${section('Path', fieldRows(named('path').map(rowOf)))}
${section('Query', fieldRows(named('query').map(rowOf)))}
${requestBody && bodyHtml(requestBody, resolve)}
${section('Headers', fieldRows(named('header').map(rowOf)))}
${operation['x-websocket'] && framesHtml(operation['x-websocket'])}
<h4>Answers</h4>
<table class="answers">${Object.entries(responses).map(([status, response]) => answerRow(status, resolve(response)))}</table>
</div>
</details>`;
}

/** What the search looks at. */
function findable({ operationId, summary, requestBody }, path, parameters) {
  const media = Object.values(requestBody?.content ?? {})[0];
  const type = media?.schema.$ref?.split('/').at(-1) ?? '';
  return [operationId, path, summary, type, ...parameters.map(({ name }) => name)].join(' ').toLowerCase();
}

function accessOf({ security, 'x-access': { role, scope } }) {
  if (role === 'public') return 'For everybody.';
  const ticket = security?.some((each) => 'ticket' in each) ? ', or a ticket' : '';
  const from = { agent: 'any role', owner: 'role owner or admin', admin: 'role admin' }[role];
  return html`A key of ${from}${scope && html` with the scope <code>${scope}</code>`}${ticket}.`;
}

/** A path that may be broken after its slashes. */
const breakable = (path) => path.split(/(?<=\/)/).map((part, index) => html`${index > 0 && html`<wbr>`}${part}`);

const rowOf = ({ name, description, required, schema, 'x-entries': entries }) => ({
  name: entries ?? name,
  description,
  required,
  schema: entries ? { type: 'string', ...Object.values(schema.patternProperties)[0] } : schema,
});

const section = (title, rows) => rows && html`<h4>${title}</h4>${rows}`;

/** A table of fields, or nothing. */
export function fieldRows(rows) {
  if (rows.length === 0) return undefined;
  return html`<table class="fields">${rows.map(({ name, description = '', required, schema }) => {
    const limits = limitsOf(schema);
    return html`<tr><th scope="row"><code>${name}</code>${required && html` <span class="req">required</span>`}<div class="type">${typeOf(schema)}</div></th><td>${markdown(description)}${limits.length > 0 && html`<p class="limits">${limits.map((each, index) => html`${index > 0 && '; '}${each}`)}</p>`}</td></tr>`;
  })}</table>`;
}

/** The fields of an object, as rows. */
export const rowsOf = ({ properties = {}, required = [] }, marks = true) =>
  Object.entries(properties).map(([name, schema]) => ({
    name,
    description: schema.description,
    required: marks && required.includes(name),
    schema,
  }));

function bodyHtml({ content, description }, resolve) {
  const types = Object.keys(content);
  const schema = resolve(content[types[0]].schema);
  const about = html`<h4>Body <span class="type">${types.join(', ')}</span></h4>`;
  if (!schema.properties) return html`${about}${markdown(description ?? '')}`;
  return html`${about}${fieldRows(rowsOf(schema))}`;
}

function framesHtml({ client, server, close }) {
  const frames = ({ text }) =>
    text.oneOf.map(({ properties: { type, ...others } }) => {
      const names = Object.keys(others);
      return html`<li><code>${type.const}</code>${names.length > 0 && html`: ${names.map((name, index) => html`${index > 0 && ', '}<code>${name}</code>`)}`}</li>`;
    });
  return html`<h4>Frames to the server</h4><p>Binary: ${client.binary}</p><ul>${frames(client)}</ul>
<h4>Frames from the server</h4><p>Binary: ${server.binary}</p><ul>${frames(server)}</ul>
<h4>Close codes</h4><ul>${Object.entries(close).map(([code, text]) => html`<li><code>${code}</code> ${inline(text)}</li>`)}</ul>`;
}

function answerRow(status, { description, content = {}, 'x-codes': codes }) {
  const types = Object.entries(content).map(([type, { schema }], index) => {
    const link = schema.$ref || schema.anyOf ? html` ${typeOf(schema)}` : '';
    return html`${index > 0 && html`<br>`}<code>${type}</code>${link}`;
  });
  const errors = codes && html`${codes.map((code, index) => html`${index > 0 && ', '}<code>${code}</code>`)}`;
  const text = codes ? description.replace(/ Codes: .*$/, '') : description;
  return html`<tr><th scope="row" class="s${status[0]}">${status}</th><td>${errors ?? STATUS[status]} <span class="about">${inline(text)}</span>${!codes && types.length > 0 && html`<div class="type">${types}</div>`}</td></tr>`;
}
