import { CliError } from '../command-line/errors.ts';
import { type Env, serverSettingsPath } from '../server/config-file.ts';
import { ofCallerAlone } from './read-checked.ts';
import { isSection, readYaml, type Section, type YamlFile } from './read-yaml.ts';

/** What the local server depends on: its addresses and its key are how it is found, its state is in its directory. */
const OWN = [
  'server.grpc_addr',
  'server.http_addr',
  'server.tls',
  'auth',
  'storage.codebase_path',
  'storage.mount_path',
  'storage.db_path',
  'runtime.hidden_paths',
];

const SECTIONS = new Set(OWN.map((key) => key.split('.')[0]!));

const FIXED = ['server', 'auth', 'storage'];

/** The user's settings of the local server. */
export function serverSettings(env: Env): YamlFile | undefined {
  // Who keeps such files in a repository has links to them.
  const file = readYaml(serverSettingsPath(env), ofCallerAlone, { follow: true });
  if (file === undefined) return undefined;
  for (const name of SECTIONS) {
    const section = file.values[name] ?? {};
    if (!isSection(section)) throw new CliError(`${file.path}: ${name} must be a map of settings`);
  }
  const own = OWN.find((key) => (valueAt(file.values, key) ?? null) !== null);
  if (own === undefined) return file;
  throw new CliError(
    `${file.path}: ${own} is set by the local server itself: run "paddock serve" for a server of your own`,
  );
}

/** The user's values over those of the local server, key by key; but what it depends on stays. */
export function withOwn(own: Section, user: Section): Section {
  const fixed = Object.fromEntries(Object.entries(own).filter(([name]) => FIXED.includes(name)));
  return merged(merged(own, user), fixed);
}

/** A section with nothing but comments is null, and absent: it takes nothing away. */
function merged(base: Section, user: Section): Section {
  const all: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(user)) {
    const below = all[name];
    if (value === null) continue;
    all[name] = isSection(below) && isSection(value) ? merged(below, value) : value;
  }
  return all;
}

/** Dotted names with their values. */
export function flat(section: Section, prefix = ''): [key: string, value: unknown][] {
  return Object.entries(section).flatMap(([name, value]) => {
    if (value === null) return [];
    return isSection(value) ? flat(value, `${prefix}${name}.`) : [[`${prefix}${name}`, value] as [string, unknown]];
  });
}

function valueAt(section: Section, key: string): unknown {
  return key.split('.').reduce<unknown>((value, name) => (isSection(value) ? value[name] : undefined), section);
}
