import { readFileSync } from 'node:fs';
import { UsageError } from '../command-line/errors.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Variables of -e and of files, as docker's: "NAME=VALUE", or "NAME" for the value that it has here, if any. */
export function environmentOf(
  given: readonly string[],
  files: readonly string[],
  own: Env,
): Record<string, string> | undefined {
  const lines = files.flatMap((path) => linesOf(path));
  const all: Record<string, string> = {};
  for (const each of [...lines, ...given]) {
    const equals = each.indexOf('=');
    const name = equals < 0 ? each : each.slice(0, equals);
    if (!/^[^\s=]+$/.test(name)) throw new UsageError(`a variable is NAME=VALUE, not ${JSON.stringify(each)}`);
    const value = equals < 0 ? own[name] : each.slice(equals + 1);
    if (value !== undefined) all[name] = value;
  }
  return Object.keys(all).length === 0 ? undefined : all;
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8')
      .replace(/^\ufeff/, '')
      .split(/\r?\n/)
      .map((line) => line.trimStart())
      .filter((line) => line !== '' && !line.startsWith('#'));
  } catch (error) {
    throw new UsageError(`the file of variables ${path} cannot be read: ${(error as Error).message}`);
  }
}
