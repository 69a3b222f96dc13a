import { CliError } from '../command-line/errors.ts';
import { readConfig } from './config-file.ts';

type Env = Readonly<Record<string, string | undefined>>;

export interface Connection {
  url: string;
  key: string | undefined;
  /** What named the server; "default": nothing did. */
  from: 'option' | 'environment' | 'configuration' | 'default';
}

const DEFAULT_URL = 'http://127.0.0.1:8080';

const bare = (url: string): string => url.replace(/\/+$/, '');

/** The server and the key. A key is only for the server that it is named with: another one does not get it. */
export function connectionOf(option: string | undefined, env: Env): Connection {
  const config = readConfig(env);
  const known = [
    env.PADDOCK_URL || env.PADDOCK_KEY
      ? { url: env.PADDOCK_URL || config.url || DEFAULT_URL, key: env.PADDOCK_KEY || undefined }
      : undefined,
    config.url || config.key ? { url: config.url || DEFAULT_URL, key: config.key } : undefined,
  ];
  const from = option ? 'option' : env.PADDOCK_URL ? 'environment' : config.url ? 'configuration' : 'default';
  const url = bare(option || env.PADDOCK_URL || config.url || DEFAULT_URL);
  if (!/^https?:\/\//.test(url)) {
    throw new CliError(`the address of the server must begin with http:// or https://, not ${JSON.stringify(url)}`);
  }
  const key = known.find((each) => each?.key !== undefined && bare(each.url) === url)?.key;
  return { url, key, from };
}
