import { readFileSync } from 'node:fs';
import { loadSources } from './openapi/operations.mjs';

const BEGIN = '<!-- The declarations of the commands: npm run generate -->\n';
const END = '<!-- end -->';
const ENTRY = `export { loadGroups } from './clients/cli/src/command-line/commands.ts';
export { usageOf } from './clients/cli/src/command-line/parse.ts';
`;

const cell = (/** @type {string} */ text) => text.replaceAll('|', '\\|');

/** The page with tables of all commands between its two comments. @param {string} path */
export async function renderCommands(path) {
  const { loadGroups, usageOf } = await loadSources(ENTRY, 'commands');
  const tables = (await loadGroups('all')).map(({ name, commands }) => {
    const rows = commands.map((command) => {
      const line = `paddock ${command.name} ${usageOf(command)}`.trimEnd();
      return `| \`${cell(line)}\` | ${cell(command.summary)} |\n`;
    });
    return `| ${name} | |\n|---|---|\n${rows.join('')}`;
  });
  const page = readFileSync(path, 'utf8');
  const [from, to] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)];
  return `${page.slice(0, from)}\n${tables.join('\n')}\n${page.slice(to)}`;
}
