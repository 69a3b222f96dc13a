import { readFileSync } from 'node:fs';

const NOTE = 'Generated from clients/spec/home.json by `npm run generate`: change it there.';

/** The table of what a sandbox must not bring home, for both clients. */
export function renderHome(source, typescript, python) {
  const { repositories, layouts, on_sight, on_use } = JSON.parse(readFileSync(source, 'utf8'));
  const pairs = { ON_SIGHT: Object.entries(on_sight), ON_USE: Object.entries(on_use) };
  return { [typescript]: inTypeScript(repositories, layouts, pairs), [python]: inPython(repositories, layouts, pairs) };
}

const single = (text) => `'${text}'`;
const list = (names, quote = single) => names.map(quote).join(', ');

function inTypeScript(repositories, layouts, pairs) {
  const tables = Object.entries(pairs).map(
    ([name, entries]) => `
export const ${name}: readonly (readonly [pattern: string, tool: string])[] = [
${entries.map((pair) => `  [${list(pair)}],`).join('\n')}
];
`,
  );
  return `// ${NOTE}

export const REPOSITORIES: readonly string[] = [
${repositories.map((name) => `  ${single(name)},`).join('\n')}
];

export const LAYOUTS: readonly (readonly string[])[] = [
${layouts.map((names) => `  [${list(names)}],`).join('\n')}
];
${tables.join('')}`;
}

function inPython(repositories, layouts, pairs) {
  const tables = Object.entries(pairs).map(
    ([name, entries]) => `
#: Pattern and tool.
${name}: Tuple[Tuple[str, str], ...] = (
${entries.map((pair) => `    (${list(pair, JSON.stringify)}),`).join('\n')}
)
`,
  );
  return `"""${NOTE}"""

from __future__ import annotations

from typing import Tuple

REPOSITORIES: Tuple[str, ...] = (
${repositories.map((name) => `    ${JSON.stringify(name)},`).join('\n')}
)

LAYOUTS: Tuple[Tuple[str, ...], ...] = (
${layouts.map((names) => `    (${list(names, JSON.stringify)}),`).join('\n')}
)
${tables.join('')}`;
}
