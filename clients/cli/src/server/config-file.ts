import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { CliError } from '../command-line/errors.ts';

export interface Config {
  url?: string;
  key?: string;
}

export type Env = Readonly<Record<string, string | undefined>>;

/** Of the settings; other files of the user are beside it. */
export function configPath(env: Env): string {
  const xdg = env.XDG_CONFIG_HOME;
  return join(xdg && isAbsolute(xdg) ? xdg : join(env.HOME || homedir(), '.config'), 'paddock/config.json');
}

/** The user's settings of the local server. */
export const serverSettingsPath = (env: Env): string => join(dirname(configPath(env)), 'server.yaml');

/** Changes with those settings; empty: there are none. */
export function serverSettingsDigest(env: Env): string {
  try {
    return createHash('sha256')
      .update(readFileSync(serverSettingsPath(env)))
      .digest('hex');
  } catch {
    return '';
  }
}

/** The file of the user's settings; without one, none. It has a key, so others must not be able to read it. */
export function readConfig(env: Env): Config {
  const path = configPath(env);
  let text: string;
  try {
    if ((statSync(path).mode & 0o077) !== 0) {
      throw new CliError(`${path} can be read by others and may contain a key: run chmod 600 ${path}`);
    }
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(String((error as { code?: unknown }).code))) return {};
    if (error instanceof CliError) throw error;
    throw new CliError(`${path} cannot be read: ${(error as Error).message}`);
  }
  return checked(path, text);
}

function checked(path: string, text: string): Config {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CliError(`${path} is not JSON`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new CliError(`${path} is no object`);
  const { url, key } = value as Record<string, unknown>;
  for (const [name, each] of Object.entries({ url, key })) {
    if (each !== undefined && typeof each !== 'string') throw new CliError(`${path}: ${name} must be a string`);
  }
  return value as Config;
}
