import { find, loadAll } from './commands.ts';
import { environment } from './environment.ts';
import { CliError, EXIT, sentenceOf, UsageError } from './errors.ts';
import { helpOf, overview, usageLine } from './help.ts';
import { parse } from './parse.ts';
import { becomeServer, serverArguments } from './server-bundle.ts';
import { Interrupted } from './signals.ts';

const args = process.argv.slice(2);
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
    process.exit(EXIT.failed);
  });
  process.stderr.on('error', () => undefined);
  const { leading, words } = divideLeading(given);
  const [name] = words;
  if (name === '--version' || name === '-v') return say(`paddock ${PADDOCK_VERSION}\n`);
  if (name === undefined || name === '--help' || name === '-h' || (name === 'help' && words.length === 1)) {
    return say(overview(await loadAll()));
  }
  const found = await find(name === 'help' ? words.slice(1) : words);
  if (!found) throw new CliError(`there is no command ${JSON.stringify(name)}: see paddock --help`);
  const { command } = found;
  if (name === 'help') return say(helpOf(command));
  try {
    const { globals, ...input } = parse(command, [...leading, ...found.args]);
    if (globals.help) return say(helpOf(command));
    // The client is not loaded for a help text.
    const { contextOf } = await import('./context.ts');
    return (await command.run(contextOf(globals, { env: environment(), commands: loadAll }), input)) ?? 0;
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`paddock: ${sentenceOf(error)}\n${usageLine(command)}\n`);
      return error.exitCode;
    }
    throw error;
  }
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
  const code = error instanceof CliError ? error.exitCode : EXIT.failed;
  process.exitCode = code;
  return code;
}
