import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CliError } from '../command-line/errors.ts';

const SERVER_FLAGS = /^--?(config|runtime|grpc-addr|http-addr)(=|$)/;

/** The server, beside this file. */
export function serverBundle(): URL {
  const url = new URL('./server.mjs', import.meta.url);
  if (!existsSync(url)) throw new CliError(`the server is missing: there is no ${fileURLToPath(url)}`);
  return url;
}

/** The arguments of the server, if it is meant: `serve`, its own commands, or its flags alone, as before `serve`. */
export function serverArguments(args: readonly string[]): readonly string[] | undefined {
  const [first, second] = args;
  if (first === 'serve') return args.slice(1);
  if (first === 'verify' || first === 'health') return args;
  if (first === 'key' && second === 'create' && args.some((each) => /^--?admin$/.test(each))) return args;
  return first !== undefined && SERVER_FLAGS.test(first) ? args : undefined;
}

/** This process becomes the server: it parses its arguments, and has its own signal handlers and exit code. */
export async function becomeServer(args: readonly string[]): Promise<void> {
  const url = serverBundle();
  process.argv.splice(1, process.argv.length, fileURLToPath(url), ...args);
  await import(url.href);
}
