import { hint } from './command-line/closest.ts';
import { find, loadBelow, loadGroups, NAMES } from './command-line/commands.ts';
import { environment } from './command-line/environment.ts';
import { EXIT, exitCodeOf, sentenceOf, UsageError } from './command-line/errors.ts';
import { helpBelow, helpOf, helpOfAll, overview, usageLine } from './command-line/help.ts';
import { parse } from './command-line/parse.ts';
import { Interrupted } from './command-line/signals.ts';
import { becomeServer, serverArguments } from './server/server-bundle.ts';

const args = process.argv.slice(2);
/** Whether the exit code is that of the command that is run. */
let runs = false;
const server = serverArguments(args);
if (server) await becomeServer(server).catch(failed);
else {
  const exitCode = await main(args).catch(failed);
  // An exit drops what a pipe has not taken yet.
  await new Promise((resolve) => process.stdout.write('', resolve));
  process.exit(exitCode);
}

/** Returns the exit code. */
async function main(given: readonly string[]): Promise<number> {
  // The reader of a pipe may end first, as `head` does.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.brokenPipe);
    process.stderr.write(`paddock: the output cannot be written: ${error.message}\n`);
    process.exit(exitCodeOf(error, { runs }));
  });
  process.stderr.on('error', () => undefined);
  const { leading, words } = divideLeading(given);
  const [name] = words;
  if (name === '--version' || name === '-v') return say(`paddock ${PADDOCK_VERSION}\n`);
  if (name === '__complete') return completeWords(words.slice(1));
  const isHelp = name === undefined || name === '--help' || name === '-h' || name === 'help';
  const topic = isHelp ? words.slice(1) : words;
  if (topic.length === 0) return say(overview(await loadGroups('usual')));
  if (isHelp && topic[0] === 'all') return say(helpOfAll(await loadGroups('all')));
  const found = await find(topic);
  if (!found) return say(await helpOfGroup(topic));
  const { command } = found;
  runs = command.runs ?? false;
  if (isHelp) return say(helpOf(command));
  try {
    const { globals, ...input } = parse(command, [...leading, ...found.args]);
    if (globals.help) return say(helpOf(command));
    // The client is not loaded for a help text.
    const { contextOf } = await import('./command-line/context.ts');
    return (await command.run(contextOf(globals, environment()), input)) ?? 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`paddock: ${sentenceOf(error)}\n${usageLine(command)}\n`);
    return exitCodeOf(error, { runs });
  }
}

/** The commands of a noun, as of "paddock key". Throws UsageError for words that mean nothing. */
async function helpOfGroup([first = '', second]: readonly string[]): Promise<string> {
  const below = await loadBelow(first);
  if (below.length > 0 && (second === undefined || second.startsWith('-'))) return helpBelow(first, below);
  const given = below.length > 0 ? `${first} ${second}` : first;
  const known = [...NAMES, ...NAMES.map((name) => name.split(' ')[0]!)];
  const meant = hint(given, known, (word) => `"paddock ${word}"`);
  throw new UsageError(`there is no command ${JSON.stringify(given)}${meant || ': see "paddock help all"'}`);
}

async function completeWords(given: readonly string[]): Promise<number> {
  const [{ complete }, { contextOf }] = await Promise.all([
    import('./command-line/complete.ts'),
    import('./command-line/context.ts'),
  ]);
  const lines = await complete(given, () => contextOf({}, environment()).paddock());
  return say(lines.map((line) => `${line}\n`).join(''));
}

/** Options of every command may precede its name. */
function divideLeading(given: readonly string[]): { leading: string[]; words: readonly string[] } {
  let at = 0;
  while (/^--(url|json)(=|$)/.test(given[at] ?? '')) at += given[at] === '--url' ? 2 : 1;
  return { leading: given.slice(0, at), words: given.slice(at) };
}

function say(text: string): number {
  process.stdout.write(text);
  return 0;
}

function failed(error: unknown): number {
  if (error instanceof Interrupted) return error.exitCode;
  process.stderr.write(`paddock: ${sentenceOf(error)}\n`);
  const code = exitCodeOf(error, { runs });
  process.exitCode = code;
  return code;
}
