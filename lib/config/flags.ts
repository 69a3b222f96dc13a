import { nearest } from './nearest.ts';
import { UsageError } from './read.ts';

export interface Flag {
  /** Dotted name of the configuration key that it overrides. */
  key?: string;
  /** Placeholder of its value; absent: a switch. */
  value?: string;
  meaning: string;
}

export const FLAGS: Readonly<Record<string, Flag>> = {
  config: { value: 'path', meaning: 'configuration file (default: $SERVICE_CONFIG, then configs/server.yaml)' },
  runtime: { value: 'type', key: 'runtime.type', meaning: 'overrides runtime.type: bwrap, docker or mock' },
  'grpc-addr': { value: 'addr', key: 'server.grpc_addr', meaning: 'overrides server.grpc_addr, like :9000' },
  'http-addr': { value: 'addr', key: 'server.http_addr', meaning: 'overrides server.http_addr, like :8080' },
  version: { meaning: 'prints the version' },
  help: { meaning: 'prints this' },
};

/** Flags of `key create`. */
export const KEY_FLAGS: Readonly<Record<string, Flag>> = {
  config: FLAGS.config!,
  admin: { meaning: 'creates a key of role admin' },
  name: { value: 'name', meaning: 'name of the key' },
  help: FLAGS.help!,
};

/** Flags of `health`. */
export const HEALTH_FLAGS: Readonly<Record<string, Flag>> = {
  config: FLAGS.config!,
  'http-addr': FLAGS['http-addr']!,
  help: FLAGS.help!,
};

export const USAGE = `usage: paddock [flags]
       paddock verify [-config <path>]   checks the state on disk, changing nothing, while no server runs on it
       paddock health [-config <path>] [-http-addr <addr>]
                                         asks the server on this machine for GET /health; the exit code is 0 if it serves
       paddock key create --admin [-name <name>] [-config <path>]
                                         creates an admin key for the server on this state, which may be running, and
                                         prints it, once

${Object.entries(FLAGS)
  .map(([name, { value, meaning }]) => `  ${`-${name}${value ? ` <${value}>` : ''}`.padEnd(20)} ${meaning}`)
  .join('\n')}
`;

/**
 * Parses `-flag v`, `-flag=v`, `--flag v` and `--flag=v`; the last occurrence of a flag counts. Switches have the value
 * "true". Throws UsageError.
 */
export function parseFlags(
  argv: readonly string[],
  flags: Readonly<Record<string, Flag>> = FLAGS,
): Map<string, string> {
  const given = new Map<string, string>();
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index]!;
    const match = /^--?([^-=][^=]*)(?:=(.*))?$/s.exec(argument);
    if (!match) throw new UsageError(`${JSON.stringify(argument)}: only flags are taken: ${flagNames(flags)}`);
    const name = match[1] === 'h' ? 'help' : match[1]!;
    if (!Object.hasOwn(flags, name)) throw new UsageError(unknownFlag(name, flags));
    const flag = flags[name]!;
    let value = match[2];
    if (flag.value === undefined) {
      if (value !== undefined && value !== 'true') throw new UsageError(`-${name}: takes no value`);
      value = 'true';
    } else {
      value ??= argv[++index];
      if (!value) throw new UsageError(`-${name}: a value is missing: -${name} <${flag.value}>`);
    }
    given.set(name, value);
  }
  return given;
}

function unknownFlag(name: string, flags: Readonly<Record<string, Flag>>): string {
  const known = nearest(name, Object.keys(flags));
  return `-${JSON.stringify(name).slice(1, -1)}: unknown flag: ${known ? `did you mean -${known}?` : flagNames(flags)}`;
}

function flagNames(flags: Readonly<Record<string, Flag>>): string {
  return Object.keys(flags)
    .map((name) => `-${name}`)
    .join(', ');
}
