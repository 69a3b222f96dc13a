import type { Named, Option, Options } from './command.ts';
import { GLOBAL, usageOf } from './parse.ts';

/** Lines of two columns. */
function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  return rows.map(([left, right]) => `  ${left.padEnd(width)}${right}\n`).join('');
}

const optionRows = (options: Options): [string, string][] =>
  Object.entries<Option>(options).map(([name, { short, value, oneOf, help }]) => [
    `${short ? `-${short}, ` : '    '}--${name} ${value ?? oneOf?.join('|') ?? ''}`.trimEnd(),
    help,
  ]);

export const usageLine = (command: Named): string =>
  `usage: paddock ${command.name} [OPTIONS] ${usageOf(command)}`.trimEnd();

/** The text of `paddock NAME --help`. */
export function helpOf(command: Named): string {
  const { summary, details, options, examples } = command;
  return [
    `${usageLine(command)}\n\n${summary[0]!.toUpperCase()}${summary.slice(1)}.\n`,
    details && `\n${details.trim()}\n`,
    `\nOptions:\n${columns([...optionRows(options), ...optionRows(GLOBAL)])}`,
    `\nExamples:\n${examples.map((example) => `  ${example}\n`).join('')}`,
  ]
    .filter(Boolean)
    .join('');
}

/** The text of `paddock WORD`, which is no command itself. */
export const helpBelow = (word: string, below: readonly Named[]): string =>
  `usage: paddock ${word} COMMAND [OPTIONS] ...

${columns(below.map(({ name, summary }) => [name, summary]))}
"paddock ${word} COMMAND --help" says more.
`;

interface Group {
  name: string;
  commands: readonly Named[];
}

/** In columns of one width. */
function groupsText(groups: readonly Group[]): string {
  const width = Math.max(...groups.flatMap(({ commands }) => commands.map(({ name }) => name.length))) + 2;
  const line = ({ name, summary }: Named): string => `  ${name.padEnd(width)}${summary}\n`;
  return groups.map(({ name, commands }) => `${name}:\n${commands.map(line).join('')}`).join('');
}

const USAGE = `usage: paddock COMMAND [OPTIONS] ...

Sandboxes for AI agents: commands under per-path rules, and their changes one by one.

`;

/** The text of `paddock --help`: the usual commands. */
export const overview = (groups: readonly Group[]): string =>
  `${USAGE}${groupsText(groups)}
"paddock help all" lists all commands, "paddock COMMAND --help" says more.
`;

/** The text of `paddock help all`. */
export const helpOfAll = (groups: readonly Group[]): string =>
  `${USAGE}${groupsText(groups)}
Options:
${columns([...optionRows(GLOBAL), ['    --version', 'print the version']])}
Exit codes: 0 success, 1 failure or negative result, 2 wrong arguments, 128+N ended by signal N.
"run" and "exec" return the exit code of the command, and 125 where paddock itself fails.

"paddock serve" runs the server; "verify", "health" and "key create --admin" are for its operator.
PADDOCK_URL and PADDOCK_KEY name the server and its key. "paddock COMMAND --help" says more.
`;
