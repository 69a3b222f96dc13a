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

/** The text of `paddock NAME --help`. */
export function helpOf(command: Command): string {
  const { summary, details, options, examples } = command;
  return [
    `${usageLine(command)}\n\n${summary[0]!.toUpperCase()}${summary.slice(1)}.\n`,
    details && `\n${details.trim()}\n`,
    `\nOptions:\n${columns([...optionRows(options), ...optionRows(GLOBAL)])}`,
    examples.length > 0 && `\nExamples:\n${examples.map((example) => `  ${example}\n`).join('')}`,
  ]
    .filter(Boolean)
    .join('');
}

/** The text of `paddock --help`. */
export function overview(commands: readonly Command[]): string {
  return `usage: paddock COMMAND [OPTIONS] ...

Sandboxes for AI agents: commands under per-path rules, and their changes one by one.

Commands:
${columns(commands.map(({ name, summary }) => [name, summary]))}
Options:
${columns([...optionRows(GLOBAL), ['    --version', 'the version']])}
The server itself: "paddock serve", and for its operator "paddock verify", "health" and "key create --admin".
PADDOCK_URL and PADDOCK_KEY name the server and its key. "paddock COMMAND --help" says more.
`;
}
