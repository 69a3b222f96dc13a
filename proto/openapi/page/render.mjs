import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { html, inline, markdown, raw } from './html.mjs';
import { fieldRows, operationHtml, rowsOf } from './operation.mjs';

const fileOf = (name) => readFileSync(new URL(name, import.meta.url), 'utf8').trim();

const VARIABLES = `B=http://127.0.0.1:8080  # the address of the server
KEY=…                    # a key; without auth.mode: keys any text
CODEBASE=… SANDBOX=…     # ids, as the server answered them
PROCESS=… SESSION=… KEY_ID=…`;

/**
 * Renders the page of a document of OpenAPI: one file that loads nothing else. `csp` permits its own style and script and
 * nothing further.
 */
export function renderPage(document) {
  const style = fileOf('style.css');
  const script = fileOf('script.js');
  const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const csp = [
    "default-src 'none'",
    `style-src ${hashOf(style)}`,
    `script-src ${hashOf(script)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return { csp, page: `${pageOf(document, style, script)}\n` };
}

function pageOf(document, style, script) {
  const { info, tags, components } = document;
  const all = operationsOf(document);
  const resolve = (each) => (each.$ref ? resolve(at(document, each.$ref)) : each);
  const groups = tags
    .map((tag) => ({ ...tag, operations: all.filter(({ operation }) => operation.tags[0] === tag.name) }))
    .filter(({ operations }) => operations.length > 0);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${info.title} ${info.version}: REST</title>
<link rel="icon" href="data:,">
<style>${raw(style)}</style>
</head>
<body>
<header>
<h1>${info.title} <small>${info.version} · REST</small></h1>
<input type="search" id="find" placeholder="Search: exec, /files, commit …  ( / )" aria-label="Search operations" autocomplete="off" hidden>
</header>
<div class="columns">
<nav aria-label="Operations">${groups.map(navHtml)}<h2>Types</h2><ul><li><a href="#schemas">All types</a></li></ul></nav>
<main>
<section class="intro">${markdown(info.description)}
<p>In a shell, set these once; then every <code>curl</code> line below works; the files that it names are in the present directory. The document itself: <a href="openapi.json"><code>/openapi.json</code></a>.</p>
<div class="curl"><pre><code id="variables">${VARIABLES}</code></pre><button type="button" class="copy" hidden>Copy</button></div>
</section>
<p id="none" hidden>No operation has these words.</p>
${groups.map(
  (
    group,
  ) => html`<section class="group" id="tag-${group.name}"><h2>${group.name}</h2><div class="about">${markdown(group.description)}</div>
${group.operations.map((each) => operationHtml(each, resolve))}</section>`,
)}
<section id="schemas"><h2>Types</h2>${Object.entries(components.schemas).map(([name, schema]) => schemaHtml(name, schema))}</section>
</main>
</div>
<script>${raw(script)}</script>
</body>
</html>`.toString();
}

const operationsOf = ({ paths }) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

const at = (document, ref) =>
  ref
    .slice(2)
    .split('/')
    .reduce((value, name) => value[name], document);

const navHtml = ({ name, operations }) => html`<h2>${name.replace(/Service$/, '')}</h2>
<ul>${operations.map(
  ({ operation: { operationId, summary }, method }) =>
    html`<li data-of="${operationId}"><a href="#${operationId}" title="${summary}"><span class="dot ${method}"></span>${operationId}</a></li>`,
)}</ul>`;

function schemaHtml(name, schema) {
  const { description = '', enum: values } = schema;
  const options = schema.anyOf
    ? html`<p>One of: ${schema.anyOf.map((each, index) => optionHtml(each, index))}</p>`
    : '';
  const isNames = values && schema.type === 'string';
  return html`<details class="schema" id="schema-${name}"><summary><b>${name}</b> <span class="sum">${inline(firstLine(description))}</span></summary>
<div class="body">${markdown(description)}${options}${!isNames && fieldRows(rowsOf(schema, schema.additionalProperties === false))}</div></details>`;
}

function optionHtml(option, index) {
  const name = option.$ref?.split('/').at(-1);
  const text = name
    ? html`<a href="#schema-${name}">${name}</a>`
    : html`<code>{${Object.keys(option.properties).join(', ')}}</code>`;
  return html`${index > 0 && ' or '}${text}`;
}

const firstLine = (text) => /^.*?[.:](?=\s|$)/.exec(text)?.[0].replace(/:$/, '') ?? text;
