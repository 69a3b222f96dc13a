import { lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CliError } from '../command-line/errors.ts';
import { ofDirectory } from './read-checked.ts';
import { readYaml, type Section, type YamlFile } from './read-yaml.ts';

const NAME = '.paddock.yaml';

/** The settings of a project by the names of the options that they stand for. */
export interface ProjectSettings {
  preset?: string | undefined;
  rule?: readonly string[] | undefined;
  network?: string | undefined;
  allow?: readonly string[] | undefined;
  deny?: readonly string[] | undefined;
  'allow-preset'?: readonly string[] | undefined;
  tools?: readonly string[] | undefined;
  memory?: string | undefined;
  cpus?: string | undefined;
  secret?: readonly string[] | undefined;
  agent?: string | undefined;
}

type Kind = 'text' | 'texts';

/** Keys of the file, with the option that each is. */
const KEYS: Readonly<Record<string, { option: keyof ProjectSettings; kind: Kind }>> = {
  preset: { option: 'preset', kind: 'text' },
  rules: { option: 'rule', kind: 'texts' },
  tools: { option: 'tools', kind: 'texts' },
  secrets: { option: 'secret', kind: 'texts' },
  agent: { option: 'agent', kind: 'text' },
  'network.mode': { option: 'network', kind: 'text' },
  'network.allow': { option: 'allow', kind: 'texts' },
  'network.deny': { option: 'deny', kind: 'texts' },
  'network.presets': { option: 'allow-preset', kind: 'texts' },
  'limits.memory': { option: 'memory', kind: 'text' },
  'limits.cpus': { option: 'cpus', kind: 'text' },
};
const SECTIONS = ['network', 'limits'];

/** The file in the directory or in the nearest one above. */
export function findProject(directory: string): YamlFile | undefined {
  for (let at = resolve(directory); ; at = dirname(at)) {
    // A link is found, too, and refused.
    if (lstatSync(join(at, NAME), { throwIfNoEntry: false })) {
      return readYaml(join(realpathSync(at), NAME), ofDirectory(statSync(at)));
    }
    if (at === dirname(at)) return undefined;
  }
}

/** Throws CliError naming file and key. */
export function projectSettings({ path, values }: YamlFile): ProjectSettings {
  const settings: Record<string, unknown> = {};
  for (const [key, value] of entriesOf(values)) {
    const known = KEYS[key];
    if (known === undefined) {
      throw new CliError(`${path}: ${key}: unknown key; known are ${Object.keys(KEYS).join(', ')}`);
    }
    settings[known.option] = known.kind === 'text' ? textOf(value, path, key) : textsOf(value, path, key);
  }
  return settings as ProjectSettings;
}

function* entriesOf(values: Section): Generator<[string, unknown]> {
  for (const [name, value] of Object.entries(values)) {
    if (!SECTIONS.includes(name) || typeof value !== 'object' || value === null || Array.isArray(value)) {
      yield [name, value];
    } else for (const [below, each] of Object.entries(value)) yield [`${name}.${below}`, each];
  }
}

function textOf(value: unknown, path: string, key: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  throw new CliError(`${path}: ${key} must be a text`);
}

function textsOf(value: unknown, path: string, key: string): string[] {
  const all = typeof value === 'string' ? [value] : value;
  if (Array.isArray(all) && all.every((each) => typeof each === 'string')) return all;
  throw new CliError(`${path}: ${key} must be a list of texts`);
}

/**
 * What needs no yes. The threat: the project is somebody else's, and its file gives an agent the network, secrets, or more of
 * the files and tools here. So without a yes it can only hide: rules of the level "none".
 */
export function restrictions({ rule = [] }: ProjectSettings): ProjectSettings {
  const hiding = rule.filter((each) => each.startsWith('none:'));
  return hiding.length > 0 ? { rule: hiding } : {};
}

/** The options whose values need a yes. */
export function extensions(settings: ProjectSettings): string[] {
  const only = restrictions(settings);
  return Object.entries(settings).flatMap(([option, value]) => {
    const left = option === 'rule' ? (value as string[]).filter((each) => !only.rule?.includes(each)) : [value].flat();
    return left.map((each) => `--${option} ${each}`);
  });
}
