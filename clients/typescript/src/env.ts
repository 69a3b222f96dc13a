import { requireKnown } from './http/arguments.ts';
import type { Settings } from './http/call.ts';
import { type Form, requireForm } from './http/forms.ts';
import { invalid } from './invalid.ts';

interface Global {
  process?: { env?: Readonly<Record<string, string | undefined>> };
}

const SETTINGS: Record<keyof Settings, Form> = {
  ...{ url: 'string', key: 'string', fetch: 'function', headers: 'map', timeout: 'duration', maxRetries: 'integer 0' },
  WebSocket: 'function',
};

/**
 * Settings of PADDOCK_URL and PADDOCK_KEY, where there is an environment, below those that are given. The key is for the
 * server of the environment: another one does not get it.
 */
export function settingsOf(given: Settings): Settings & { url: string } {
  for (const name of Object.keys(given)) requireKnown(name, Object.keys(SETTINGS));
  for (const [name, form] of Object.entries(SETTINGS)) requireForm(name, given[name as keyof Settings], form);
  const env = (globalThis as Global).process?.env;
  const own = env?.PADDOCK_URL || 'http://127.0.0.1:8080';
  const url = given.url ?? own;
  requireAddress(url);
  const key = given.key ?? ((bare(url) === bare(own) && env?.PADDOCK_KEY) || undefined);
  if (key !== undefined && !/^[!-~]*$/.test(key)) throw invalid('key must be printable ASCII without spaces');
  return { ...given, url: bare(url), key };
}

/** Sentences without the value: it may have a password, which errors of connections would quote, too. */
function requireAddress(url: string): void {
  if (!/^https?:\/\//.test(url)) throw invalid('url must begin with http:// or https://');
  let parts: URL;
  try {
    parts = new URL(url);
  } catch {
    throw invalid('url must be like http://127.0.0.1:8080');
  }
  if (parts.username || parts.password || parts.search || parts.hash)
    throw invalid('url must have no user, query or fragment: a key is `key`');
}

const bare = (url: string): string => url.replace(/\/+$/, '');
