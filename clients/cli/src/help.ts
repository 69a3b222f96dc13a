import type { Command, Options } from './command.ts';
import { GLOBAL } from './parse.ts';

/** Lines of two columns. */
function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  return rows.map(([left, right]) => `  ${left.padEnd(width)}${right}\n`).join('');
}

const optionRows = (options: Options): [string, string][] =>
  Object.entries(options).map(([name, { short, value, help }]) => [
    `${short ? `-${short}, ` : '    '}--${name}${value ? ` ${value}` : ''}`,
    help,
  ]);

export const usageLine = ({ name, usage }: Command): string => `usage: paddock ${name} [OPTIONS] ${usage}`.trimEnd();

/** Of commands in a list. */
const summaries = (commands: readonly Command[]): string =>
  columns(commands.map(({ name, summary }) => [name, summary]));

/** The text of `paddock NAME --help`. `below`: the commands whose first word it is. */
export function helpOf(command: Command, below: readonly Command[] = []): string {
  const { summary, details, options, examples } = command;
  return [
    `${usageLine(command)}\n\n${summary[0]!.toUpperCase()}${summary.slice(1)}.\n`,
    details && `\n${details.trim()}\n`,
    `\nOptions:\n${columns([...optionRows(options), ...optionRows(GLOBAL)])}`,
    below.length > 0 && `\nCommands:\n${summaries(below)}`,
    examples.length > 0 && `\nExamples:\n${examples.map((example) => `  ${example}\n`).join('')}`,
  ]
    .filter(Boolean)
    .join('');
}

/** The text of `paddock WORD`, which is no command itself. */
export const helpBelow = (word: string, below: readonly Command[]): string =>
  `usage: paddock ${word} COMMAND [OPTIONS] ...\n\n${summaries(below)}\n"paddock ${word} COMMAND --help" says more.\n`;

interface Group {
  name: string;
  commands: readonly Command[];
}

/** In columns of one width. */
function groupsText(groups: readonly Group[]): string {
  const width = Math.max(...groups.flatMap(({ commands }) => commands.map(({ name }) => name.length))) + 2;
  const line = ({ name, summary }: Command): string => `  ${name.padEnd(width)}${summary}\n`;
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
${columns([...optionRows(GLOBAL), ['    --version', 'the version']])}
The server itself: "paddock serve", and for its operator "paddock verify", "health" and "key create --admin".
PADDOCK_URL and PADDOCK_KEY name the server and its key. "paddock COMMAND --help" says more.
`;
