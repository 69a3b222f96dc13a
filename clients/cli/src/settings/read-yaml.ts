import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { CliError } from '../errors.ts';

export type Section = { readonly [name: string]: unknown };

export interface YamlFile {
  path: string;
  text: string;
  values: Section;
}

const MOST_BYTES = 256 * 1024;

/** undefined: there is no such file. Throws CliError for one that is no map. */
export function readYaml(path: string): YamlFile | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(String((error as { code?: unknown }).code))) return undefined;
    throw new CliError(`${path} cannot be read: ${(error as Error).message}`);
  }
  if (text.length > MOST_BYTES) throw new CliError(`${path} is larger than ${MOST_BYTES / 1024} KiB`);
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
