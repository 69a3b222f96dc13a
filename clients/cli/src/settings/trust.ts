import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { configPath, type Env } from '../server/config-file.ts';
import type { YamlFile } from './read-yaml.ts';

/** The files of projects that the user has said yes to, with the digest of what they said then. */
const trustPath = (env: Env): string => join(dirname(configPath(env)), 'trusted-projects.json');

const digestOf = ({ text }: YamlFile): string => createHash('sha256').update(text).digest('hex');

function trusted(env: Env): Record<string, string> {
  try {
    return JSON.parse(readFileSync(trustPath(env), 'utf8')) as Record<string, string>;
  } catch {
    return {};
  }
}

/** Whether exactly this text at exactly this path was said yes to. */
export const isTrusted = (file: YamlFile, env: Env): boolean => {
  const all = trusted(env);
  return Object.hasOwn(all, file.path) && all[file.path] === digestOf(file);
};

export function trust(file: YamlFile, env: Env): void {
  const path = trustPath(env);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify({ ...trusted(env), [file.path]: digestOf(file) }, null, 2)}\n`, {
    mode: 0o600,
  });
  renameSync(temporary, path);
}
