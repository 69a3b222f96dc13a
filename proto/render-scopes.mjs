import { readFileSync } from 'node:fs';

const BEGIN = '<!-- The declarations of the operations: npm run generate -->\n';
const END = '<!-- end -->';

/** @typedef {{ operation: string, access: { role: string, scope?: string } }} Row */

/** The page with the table of scopes between its two comments. @param {string} path @param {readonly Row[]} operations */
export function renderScopes(path, operations) {
  /** @type {Map<string, Set<string>>} */
  const scopes = new Map();
  for (const { operation, access } of operations) {
    const named = `${operation}${access.role === 'admin' ? ' (admin)' : ''}`;
    const scope = access.scope === undefined ? 'none is needed' : `\`${access.scope}\``;
    scopes.set(scope, (scopes.get(scope) ?? new Set()).add(named));
  }
  const rows = [...scopes].sort().map(([scope, names]) => `| ${scope} | ${[...names].sort().join(', ')} |\n`);
  const page = readFileSync(path, 'utf8');
  const [from, to] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)];
  return `${page.slice(0, from)}\n| scope | operations |\n|---|---|\n${rows.join('')}\n${page.slice(to)}`;
}
