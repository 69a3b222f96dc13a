import { type CreateOptions, defaultPreset, type PermissionRules } from 'paddock-sandbox';
import type { Options, Values } from '../command-line/command.ts';
import { UsageError } from '../command-line/errors.ts';
import { environmentOf } from './environment.ts';
import { NETWORK_OPTIONS, networkOf } from './network.ts';
import { SECRET_OPTIONS, secretsOf, withHostsOf } from './secrets.ts';
import { bytesOf, cpuQuotaOf, cpuSharesOf } from './sizes.ts';

/** What the help says of the rules without options. */
export const DEFAULT_RULES = `Without --preset the rules are those of "development": everything but the hooks of git can be read and written,
with placeholders in place of secrets. With --rule they are those of "agent-safe", to which the rules are added:
everything can be read, with placeholders, and only what the rules name can be written.`;

/** Options of a new sandbox. */
export const SANDBOX_OPTIONS = {
  preset: { value: 'NAME', help: 'set of rules; "none": only those of --rule' },
  rule: {
    multiple: true,
    value: 'LEVEL:PATTERN',
    help: 'rule: write, scratch, read, redacted, view or none, and a path or a glob, like write:src/**',
  },
  show: {
    multiple: true,
    value: 'PATTERN',
    help: 'show these files without placeholders, although the preset takes them for secrets',
  },
  runtime: { value: 'NAME', help: 'bwrap or docker' },
  image: { value: 'IMAGE', help: "file system of the sandbox (default: the server's)" },
  env: {
    short: 'e',
    multiple: true,
    value: 'NAME=VALUE',
    help: 'environment variable; NAME alone: with its value here',
  },
  memory: { short: 'm', value: 'BYTES', help: 'memory, like 512m or 2g' },
  cpus: { value: 'NUMBER', help: 'processors, like 2 or 1.5' },
  priority: { value: 'LEVEL', help: 'low, normal or high: the share of the processors beside other sandboxes' },
  ...NETWORK_OPTIONS,
  ...SECRET_OPTIONS,
} as const satisfies Options;

/** Options of an upload. */
export const UPLOAD_OPTIONS = {
  gitignore: { help: 'leave out what .gitignore files name' },
  exclude: { multiple: true, value: 'GLOB', help: 'leave out these paths' },
  'git-hooks': { help: 'send the hooks of git, too' },
} as const satisfies Options;

type SandboxValues = Values<typeof SANDBOX_OPTIONS>;

const LEVELS = ['write', 'scratch', 'read', 'redacted', 'shown', 'view', 'none'];

/** "write:src/**" and the like as the short form of rules. */
export function rulesOf(given: readonly string[]): Partial<PermissionRules> {
  const rules: Record<string, string[]> = {};
  for (const each of given) {
    const [, level = '', pattern = ''] = /^([a-z]+):(.+)$/s.exec(each) ?? [];
    if (!LEVELS.includes(level) || pattern === '') {
      throw new UsageError(
        `a rule is LEVEL:PATTERN, like write:src/**; got ${JSON.stringify(each)}. Levels: ${LEVELS.join(', ')}`,
      );
    }
    rules[level] = [...(rules[level] ?? []), pattern];
  }
  return rules as Partial<PermissionRules>;
}

/** Without a preset that of all clients: see `defaultPreset`. */
export function ruleOptionsOf({
  preset,
  rule = [],
  show = [],
}: Pick<SandboxValues, 'preset' | 'rule' | 'show'>): CreateOptions {
  const all = [...rule, ...show.map((pattern) => `shown:${pattern}`)];
  const rules = rulesOf(all);
  return { preset: preset ?? defaultPreset({ rules }), ...(all.length > 0 && { rules }) };
}

export function sandboxOptionsOf(
  values: SandboxValues,
  env: Readonly<Record<string, string | undefined>>,
): CreateOptions {
  const { runtime, image } = values;
  const secrets = secretsOf(values.secret ?? []);
  const network = withHostsOf(secrets, networkOf(values));
  return {
    ...ruleOptionsOf(values),
    ...(runtime !== undefined && { runtime: runtimeOf(runtime) }),
    ...(image !== undefined && { image }),
    env: environmentOf(values.env ?? [], [], env),
    ...(network && { network }),
    ...(secrets.length > 0 && { secrets }),
    ...resourcesOf(values),
  };
}

function resourcesOf({ memory, cpus, priority }: SandboxValues): Pick<CreateOptions, 'resources'> {
  const resources = {
    ...(memory !== undefined && { memoryBytes: bytesOf('memory', memory) }),
    ...(cpus !== undefined && { cpuQuota: cpuQuotaOf('cpus', cpus) }),
    ...(priority !== undefined && { cpuShares: cpuSharesOf('priority', priority) }),
  };
  return Object.keys(resources).length > 0 ? { resources } : {};
}

function runtimeOf(name: string): NonNullable<CreateOptions['runtime']> {
  if (name !== 'bwrap' && name !== 'docker' && name !== 'mock')
    throw new UsageError(`--runtime is bwrap or docker, not ${JSON.stringify(name)}`);
  return name;
}

export function packOptionsOf(values: Values<typeof UPLOAD_OPTIONS>) {
  return {
    gitignore: values.gitignore ?? false,
    exclude: values.exclude ?? [],
    gitHooks: values['git-hooks'] ?? false,
  };
}
