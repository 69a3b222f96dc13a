import { parseDocument } from 'yaml';
import { CliError } from '../command-line/errors.ts';
import { type CheckOwner, readChecked } from './read-checked.ts';

type Checks = [check: CheckOwner, how?: { follow?: boolean }];

export type Section = { readonly [name: string]: unknown };

export interface YamlFile {
  path: string;
  text: string;
  values: Section;
}

/** undefined: there is no such file. Throws CliError for one that is no map. */
export function readYaml(path: string, ...checks: Checks): YamlFile | undefined {
  const text = readChecked(path, ...checks);
  if (text === undefined) return undefined;
  const document = parseDocument(text);
  const [problem] = [...document.errors, ...document.warnings];
  if (problem) throw new CliError(`${path} is not valid YAML: ${problem.message.split('\n', 1)[0]}`);
  const values = plainOf(document, path) ?? {};
  if (!isSection(values)) throw new CliError(`${path} is no map of settings`);
  return { path, text, values };
}

/** Aliases may make a small text a large value. */
function plainOf(document: ReturnType<typeof parseDocument>, path: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch {
    throw new CliError(`${path} has aliases, which are not permitted`);
  }
}

export const isSection = (value: unknown): value is Section =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
