import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadSources } from './openapi/operations.mjs';

/** `<!-- handlers/files.ts: npm run generate -->` begins a table of the operations that these files declare. */
const TABLE = /(?<=<!-- (handlers\/[^:]+): npm run generate -->\n)[\s\S]*?(?=<!-- end -->)/g;

/** @typedef {{ rpc: string, route: string, also?: readonly { route: string }[] }} Declaration */

/**
 * The pages of a directory with tables of operations: what each does, by the first sentence of its comment, and its routes.
 *
 * @param {string} docs
 * @param {{ rpcs: readonly { name: string, comment: string }[] }} contract
 */
export async function renderTables(docs, { rpcs }) {
  const pages = readdirSync(docs)
    .filter((name) => name.endsWith('.md'))
    .map((name) => ({ path: join(docs, name), text: readFileSync(join(docs, name), 'utf8') }));
  const found = pages.flatMap(({ text }) => Array.from(text.matchAll(TABLE), ([, files = '']) => files));
  const names = [...new Set(found.flatMap((files) => files.split(' ')))];
  const entry = names.map((name) => `export * as ${idOf(name)} from './${name}';\n`).join('');
  const modules = await loadSources(entry, 'tables');
  const order = rpcs.map(({ name }) => name);
  const rows = (/** @type {string} */ name) => {
    const declared = /** @type {Declaration[]} */ (Object.values(modules[idOf(name)]));
    return declared.sort((a, b) => order.indexOf(a.rpc) - order.indexOf(b.rpc)).map((each) => rowOf(each, rpcs));
  };
  const tabled = pages
    .filter(({ text }) => text.match(TABLE))
    .map(({ path, text }) => [
      path,
      text.replace(
        TABLE,
        (_, files) => `\n| | gRPC | REST |\n|---|---|---|\n${files.split(' ').flatMap(rows).join('')}\n`,
      ),
    ]);
  return Object.fromEntries(tabled);
}

const idOf = (/** @type {string} */ name) => name.replace(/\W/g, '_');

/** @param {Declaration} declaration @param {readonly { name: string, comment: string }[]} rpcs */
function rowOf({ rpc, route, also = [] }, rpcs) {
  const comment = rpcs.find(({ name }) => name === rpc)?.comment ?? '';
  const [sentence = ''] = comment.replaceAll('\n', ' ').split(/\.(?= |$)/);
  const routes = [route, ...also.map((each) => each.route)].map(
    (each) => `\`${each.replace('+}', '}').replace(/\?\w+$/, '$&=')}\``,
  );
  return `| ${sentence.replaceAll('|', '\\|')} | \`${rpc}\` | ${routes.join(', ')} |\n`;
}
