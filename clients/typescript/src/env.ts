import { requireKnown, type Settings } from './http/call.ts';
import { invalid } from './invalid.ts';

interface Global {
  process?: { env?: Readonly<Record<string, string | undefined>> };
}

/**
 * Settings of PADDOCK_URL and PADDOCK_KEY, where there is an environment, below those that are given. The key is for the
 * server of the environment: another one does not get it.
 */
export function settingsOf(given: Settings): Settings & { url: string } {
  requireKnown(given, ['url', 'key', 'fetch', 'headers', 'timeout', 'maxRetries', 'WebSocket']);
  const env = (globalThis as Global).process?.env;
  const own = env?.PADDOCK_URL || 'http://127.0.0.1:8080';
  const url = given.url ?? own;
  if (!/^https?:\/\//.test(url)) throw invalid(`url must begin with http:// or https://, not ${JSON.stringify(url)}`);
  const key = given.key ?? ((bare(url) === bare(own) && env?.PADDOCK_KEY) || undefined);
  return { ...given, url: bare(url), key };
}

const bare = (url: string): string => url.replace(/\/+$/, '');
