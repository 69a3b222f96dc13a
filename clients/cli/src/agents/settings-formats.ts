import { parse } from 'yaml';
import { CliError } from '../command-line/errors.ts';
import { isSection, type Section } from '../settings/read-yaml.ts';

/** Throws for a text that is no map. */
export function parserOf(format: string): (text: string) => Section {
  const all: Readonly<Record<string, (text: string) => unknown>> = {
    '.json': (text) => JSON.parse(text),
    '.yml': (text) => parse(text, { maxAliasCount: 0 }),
    '.yaml': (text) => parse(text, { maxAliasCount: 0 }),
    '.toml': topOfToml,
  };
  const parser = all[format] ?? unknown(format);
  return (text) => {
    const value = parser(text);
    if (!isSection(value)) throw new Error('it is no map');
    return value;
  };
}

/** JSON is YAML, too. */
export function writerOf(format: string): (values: Section) => string {
  if (format === '.toml') return toml;
  return ['.json', '.yml', '.yaml'].includes(format)
    ? (values) => `${JSON.stringify(values, null, 2)}\n`
    : unknown(format);
}

function unknown(format: string): never {
  throw new CliError(`settings are .json, .yaml, .yml or .toml, not ${JSON.stringify(format)}`);
}

/** Of TOML the values of one line before the first table: texts, numbers and booleans. */
function topOfToml(text: string): Section {
  const [top = ''] = text.split(/^\s*\[/m, 1);
  const lines = top.matchAll(
    /^([\w-]+)[ \t]*=[ \t]*("(?:[^"\\\n]|\\["\\])*"|true|false|-?\d+(?:\.\d+)?)[ \t]*(?:#.*)?\r?$/gm,
  );
  return Object.fromEntries([...lines].map(([, name, value]) => [name, JSON.parse(value!)]));
}

/** Names are written as they are, so that one can be of several parts: `projects."/a".trust`. */
const toml = (values: Section): string =>
  Object.entries(values)
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`)
    .join('');
