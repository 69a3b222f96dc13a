// Generates from the .proto files of proto/service/v1:
//
//   lib/contract/messages.ts  types of messages and enums, with the comments of the .proto files
//   lib/contract/schema.ts    fields, enums and rpcs as data, used by the handlers to parse requests
//   clients/python/paddock_sandbox/messages.py   Python classes of the messages
//
// and, from clients/python/paddock_sandbox/_async, the synchronous client in _sync.
//
// and, with the declarations of handlers/:
//
//   proto/service/v1/released.txt   names, numbers and types that clients rely on, and what each operation needs
//   docs/openapi.json         the REST interface, for people, generators of clients, and /docs of the server
//   clients/python/paddock_sandbox/{_table,_fields,requests,_async/api,_sync/api}.py    that table, the requests and a method
//                             for each operation, for the Python client
//   docs/*.md                 their tables of operations
//   docs/access.md            its table of scopes
//   docs/cli.md               its tables of commands, from the declarations of clients/cli
//   clients/typescript/src/contract/  types of the messages, and the table of operations, for the TypeScript client
//
// and, from local-refusals/table.ts, the names in it for both clients: contract/on-sight.ts and _on_sight.py.
//
// `node proto/generate.mjs` writes the files; with `--check` it writes nothing and fails if a file differs.
// The generator refuses to change or remove a line of released.txt.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { wordsOf } from './client-forms.mjs';
import { contractOf } from './contract.mjs';
import { renderDocument } from './openapi/document.mjs';
import { loadOperations, loadSources } from './openapi/operations.mjs';
import { brokenPromises, renderDecisions, renderReleased } from './released.mjs';
import { inWords, renderClientMessages, renderClientOperations } from './render-client.mjs';
import { renderCommands } from './render-commands.mjs';
import { renderMessages } from './render-messages.mjs';
import { renderOnSight, renderPythonOnSight } from './render-on-sight.mjs';
import { renderPython } from './render-python.mjs';
import { renderPythonApi, renderPythonRequests } from './render-python-api.mjs';
import { renderPythonSync } from './render-python-sync.mjs';
import { renderPythonFields, renderPythonTable } from './render-python-table.mjs';
import { renderSchema } from './render-schema.mjs';
import { renderScopes } from './render-scopes.mjs';
import { renderTables } from './render-tables.mjs';
import { PROTO_ROOT, parseProto } from './source.mjs';

const SERVICE = join(PROTO_ROOT, 'service/v1');
const DOCS = join(PROTO_ROOT, '../docs');
const ACCESS = join(DOCS, 'access.md');
const RELEASED = join(SERVICE, 'released.txt');
const CONTRACT = join(PROTO_ROOT, '../lib/contract');
const COMMANDS = join(PROTO_ROOT, '../docs/cli.md');
const DOCUMENT = join(PROTO_ROOT, '../docs/openapi.json');
const PACKAGE = join(PROTO_ROOT, '../package.json');
const CLIENT = join(PROTO_ROOT, '../clients/typescript/src/contract');
const PYTHON = join(PROTO_ROOT, '../clients/python/paddock_sandbox');

/** Reads the definitions of .proto files. Throws for one without a comment, and for a name that clients cannot use. */
export function readContract(paths) {
  return contractOf(paths.map((path) => parseProto(path, { comments: true })));
}

function serviceContract() {
  const names = readdirSync(SERVICE).filter((name) => name.endsWith('.proto'));
  return readContract(names.sort().map((name) => join(SERVICE, name)));
}

/** Returns the contents of the files generated from the .proto files alone. Throws if a released definition would change. */
export function generate() {
  const contract = serviceContract();
  const broken = brokenPromises(textOf(RELEASED), renderReleased(contract));
  if (broken.length > 0) throw new Error(`clients rely on definitions that changed:\n${broken.join('\n')}`);
  return {
    [join(CONTRACT, 'messages.ts')]: renderMessages(contract),
    [join(CONTRACT, 'schema.ts')]: renderSchema(contract),
    [join(PYTHON, 'messages.py')]: inWords(renderPython(contract), wordsOf(contract.enums)),
    ...renderPythonSync(PYTHON),
  };
}

/** Returns the contents of the files that need the table of operations. The files of `generate` must be written before. */
export async function generateFromTable() {
  const { operations, CODES: codes } = await loadOperations();
  const { version } = JSON.parse(textOf(PACKAGE));
  const contract = serviceContract();
  const words = wordsOf(contract.enums);
  const api = renderPythonApi(contract, operations);
  const names = await loadSources("export * from './local-refusals/table.ts';", 'on-sight');
  const document = renderDocument({ contract, operations, codes, version });
  return {
    [RELEASED]: renderReleased(contract) + renderDecisions(operations),
    [DOCUMENT]: `${JSON.stringify(document, null, 2)}\n`,
    [COMMANDS]: await renderCommands(COMMANDS),
    ...(await renderTables(DOCS, contract)),
    [ACCESS]: renderScopes(ACCESS, operations),
    [join(CLIENT, 'messages.ts')]: renderClientMessages(contract, operations),
    [join(CLIENT, 'operations.ts')]: renderClientOperations(contract, operations, version),
    [join(CLIENT, 'on-sight.ts')]: renderOnSight(names),
    [join(PYTHON, '_on_sight.py')]: renderPythonOnSight(names),
    [join(PYTHON, '_table.py')]: renderPythonTable(contract, operations),
    [join(PYTHON, '_fields.py')]: renderPythonFields(contract, operations),
    [join(PYTHON, 'requests.py')]: inWords(renderPythonRequests(contract, operations), words),
    [join(PYTHON, '_async/api.py')]: inWords(api._async, words),
    [join(PYTHON, '_sync/api.py')]: inWords(api._sync, words),
  };
}

/** Returns the paths of generated files whose contents on disk differ. */
export function outdated(files = generate()) {
  return Object.entries(files).flatMap(([path, text]) => (textOf(path) === text ? [] : [path]));
}

function textOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return '';
    throw error;
  }
}

function write(files) {
  for (const path of outdated(files)) writeFileSync(path, files[path]);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  if (process.argv.includes('--check')) {
    const changed = outdated({ ...generate(), ...(await generateFromTable()) });
    for (const path of changed) process.stderr.write(`${path} differs from its sources: run npm run generate\n`);
    if (changed.length > 0) process.exitCode = 1;
  } else {
    write(generate());
    write(await generateFromTable());
  }
}
