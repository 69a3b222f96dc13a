import type { Settings } from './http/call.ts';

interface Global {
  process?: { env?: Readonly<Record<string, string | undefined>> };
}

/** Settings of PADDOCK_URL and PADDOCK_KEY, where there is an environment, below those that are given. */
export function settingsOf(given: Settings): Settings & { url: string } {
  const env = (globalThis as Global).process?.env;
  const url = given.url ?? (env?.PADDOCK_URL || 'http://127.0.0.1:8080');
  if (!/^https?:\/\//.test(url))
    throw new TypeError(`url must begin with http:// or https://, not ${JSON.stringify(url)}`);
  return { ...given, url: url.replace(/\/+$/, ''), key: given.key ?? (env?.PADDOCK_KEY || undefined) };
}
