import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { KEY_SHAPE } from '../access/key-format.ts';
import { fixedAdminKey } from '../access/new-key.ts';
import { errorCode } from '../linux/errno.ts';
import type { KeyRecord } from '../metadata/metadata.ts';
import { checkTls } from './check-tls.ts';
import { withDefaults } from './defaults.ts';
import { FLAGS, HEALTH_FLAGS, KEY_FLAGS, parseFlags, USAGE } from './flags.ts';
import { ConfigError, parseYaml, readSection, type Source, UsageError } from './read.ts';
import { type Config, SCHEMA } from './schema.ts';

const DEFAULT_FILE = 'configs/server.yaml';

/** The attributes of the process that the configuration depends on. */
export interface ProcessEnvironment {
  argv: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  root: boolean;
  home: string;
}

/** An invocation that reads the configuration. */
interface Configured {
  config: Config;
  /** Name for the operator: the file, or "defaults". */
  source: string;
  warnings: readonly string[];
}

export type Invocation =
  | { action: 'version' }
  | { action: 'help'; usage: string }
  | (Configured & { action: 'verify' })
  | (Configured & { action: 'health' })
  | (Configured & { action: 'create-key'; name: string })
  | (Configured & {
      action: 'serve';
      /** Environment variables of Docker's own clients, used if runtime.docker.host is empty. */
      dockerEnvironment: DockerEnvironment;
      /** The key in PADDOCK_ADMIN_KEY, without its secret. */
      adminKey: KeyRecord | undefined;
    });

/** https://docs.docker.com/reference/cli/docker/#environment-variables */
export interface DockerEnvironment {
  DOCKER_HOST: string | undefined;
  DOCKER_TLS_VERIFY: string | undefined;
  DOCKER_CERT_PATH: string | undefined;
}

/**
 * Parses the command line and the configuration. Precedence: a flag, the file, the default; for the file: -config,
 * SERVICE_CONFIG, configs/server.yaml. Throws a ConfigError of one line.
 */
export function loadConfig(environment: ProcessEnvironment = processEnvironment()): Invocation {
  const { action, flags } = readCommand(environment.argv);
  if (flags.has('help')) return { action: 'help', usage: USAGE };
  if (flags.has('version')) return { action: 'version' };

  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const { file, content } = readFile(flags.get('config'), environment);
  const source: Source = { name: file ?? 'defaults', folder: dirname(resolve(environment.cwd, file ?? '.')), warn };
  const given = withDefaults(content === undefined ? {} : parseYaml(content, source.name), environment);

  const overrides = new Map<string, { value: unknown; source: Source }>();
  for (const [flag, value] of flags) {
    const key = FLAGS[flag]?.key;
    if (key) overrides.set(key, { value, source: { name: `-${flag}`, folder: environment.cwd, warn } });
  }
  const config = readSection(SCHEMA, given, source, overrides) as unknown as Config;
  checkTogether(config, source.name);
  checkTls(config, source.name);
  const configured = { config, source: source.name, warnings };
  if (action === 'create-key') return { action, name: flags.get('name') ?? 'admin', ...configured };
  if (action === 'verify' || action === 'health') return { action, ...configured };
  const { DOCKER_HOST, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH, PADDOCK_ADMIN_KEY } = environment.env;
  const adminKey = adminKeyOf(PADDOCK_ADMIN_KEY);
  if (adminKey && config.auth.mode === 'off') warn('PADDOCK_ADMIN_KEY has no effect: auth.mode is off');
  return { action, ...configured, dockerEnvironment: { DOCKER_HOST, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH }, adminKey };
}

/** The command, with its flags. Throws UsageError. */
function readCommand(argv: readonly string[]): {
  action: 'serve' | 'verify' | 'health' | 'create-key';
  flags: Map<string, string>;
} {
  if (argv[0] === 'key') {
    if (argv[1] !== 'create') throw new UsageError('key: the only command is key create --admin');
    const flags = parseFlags(argv.slice(2), KEY_FLAGS);
    if (!flags.has('admin') && !flags.has('help')) {
      throw new UsageError('key create: --admin is required: other keys are created over the API');
    }
    return { action: 'create-key', flags };
  }
  if (argv[0] === 'health') return { action: 'health', flags: parseFlags(argv.slice(1), HEALTH_FLAGS) };
  if (!asksToVerify(argv)) return { action: 'serve', flags: parseFlags(argv) };
  const flags = parseFlags(argv.slice(1));
  const unfit = [...flags.keys()].find((flag) => !['config', 'help', 'version'].includes(flag));
  if (unfit !== undefined) throw new UsageError(`-${unfit}: verify takes no flag but -config <path>`);
  return { action: 'verify', flags };
}

/** The error does not show the value, which is a secret. */
function adminKeyOf(text: string | undefined): KeyRecord | undefined {
  if (!text) return undefined;
  const key = fixedAdminKey(text, 'PADDOCK_ADMIN_KEY');
  if (key === undefined) throw new ConfigError(`PADDOCK_ADMIN_KEY: the value is not allowed: a key like ${KEY_SHAPE}`);
  return key;
}

/** Whether the first argument is `verify`; its flags follow. */
export function asksToVerify([first]: readonly string[] = process.argv.slice(2)): boolean {
  return first === 'verify';
}

/** The admin key is removed from the environment, so that no child process and no worker thread gets it. */
function processEnvironment(): ProcessEnvironment {
  const env = { ...process.env };
  delete process.env.PADDOCK_ADMIN_KEY;
  return {
    argv: process.argv.slice(2),
    env,
    cwd: process.cwd(),
    root: process.getuid?.() === 0,
    home: ownHome(),
  };
}

/** The user of a container may have neither a passwd entry nor HOME. */
function ownHome(): string {
  try {
    return homedir();
  } catch {
    return '/';
  }
}

function readFile(named: string | undefined, { env, cwd }: ProcessEnvironment): { file?: string; content?: string } {
  const chosen = named ?? (env.SERVICE_CONFIG || undefined);
  const file = chosen ?? DEFAULT_FILE;
  try {
    return { file, content: readFileSync(resolve(cwd, file), 'utf8') };
  } catch (error) {
    const code = errorCode(error);
    if (chosen === undefined && (code === 'ENOENT' || code === 'ENOTDIR')) return {};
    throw new ConfigError(`${file}: the configuration file cannot be read: ${code}`);
  }
}

function checkTogether({ runtime, storage }: Config, file: string): void {
  if (runtime.defaultTimeout > runtime.maxTimeout) {
    throw new ConfigError(
      `${file}: runtime.default_timeout: value "${runtime.defaultTimeout}ms" is not allowed: ` +
        `at most runtime.max_timeout, ${runtime.maxTimeout}ms`,
    );
  }
  const { start, size } = runtime.uidRange;
  if (start + size > 2 ** 32 - 1) {
    throw new ConfigError(`${file}: runtime.uid_range.size: value ${size} is not allowed: start + size below 2^32`);
  }
  const { codebasePath, mountPath, dbPath } = storage;
  const apart: [string, string, string, string][] = [
    ['mount_path', mountPath, 'codebase_path', codebasePath],
    ['db_path', dbPath, 'codebase_path', codebasePath],
    ...['fs', 'deltas', 'images', 'layers', 'run'].flatMap((own): [string, string, string, string][] => [
      ['codebase_path', codebasePath, `mount_path/${own}`, join(mountPath, own)],
      ['db_path', dbPath, `mount_path/${own}`, join(mountPath, own)],
    ]),
  ];
  for (const [name, path, outerName, outer] of apart) {
    if (!isWithin(path, outer)) continue;
    throw new ConfigError(
      `${file}: storage.${name}: value "${path}" is not allowed: a path outside storage.${outerName} (${outer})`,
    );
  }
  if (isWithin(mountPath, dbPath) || isWithin(codebasePath, dbPath)) {
    throw new ConfigError(`${file}: storage.db_path: value "${dbPath}" is not allowed: a file of its own`);
  }
}

function isWithin(path: string, outer: string): boolean {
  const below = relative(outer, path);
  return below === '' || (!below.startsWith('../') && below !== '..');
}
