import { isIP } from 'node:net';
import { CliError } from '../command-line/errors.ts';
import type { Env } from '../server/config-file.ts';
import type { Agent, Key } from './agent.ts';

/** A key that goes to the server, as a secret for `hosts`. */
export interface HeldKey extends Pick<Key, 'variable' | 'shape' | 'header'> {
  value: string;
  hosts: readonly string[];
}

/** A rule of a network policy that allows one host. */
interface HostRule {
  host?: string;
  cidr?: string;
  ports: readonly number[];
}

export interface Keys {
  held: HeldKey[];
  rules: HostRule[];
  /** Addresses of services, and keys that no service knows. */
  env: Record<string, string>;
  /** What the caller is told. */
  notes: string[];
}

/**
 * The keys that the caller has for an agent. `given`: variables that the agent gets in another way. A value is put into requests
 * over TLS to a name only: for a service at another address the agent gets a key that no service knows.
 */
export function keysOf(name: string, { keys, hosts }: Agent, env: Env, given: ReadonlySet<string>): Keys {
  const all: Keys = { held: [], rules: hosts.map(ruleOf), env: {}, notes: [] };
  const used = keys.filter((key) => env[key.variable] || given.has(key.variable));
  const plain = keys.find((key) => env[key.url] && !isProtected(placeOf(key, env)));
  // A service of this machine often asks for no key.
  if (used.length === 0 && plain) used.push(plain);
  if (used.length === 0 && keys.length > 0) {
    throw new CliError(`${name} needs a key: set ${keys.map(({ variable }) => variable).join(' or ')}`);
  }
  for (const key of used) {
    const place = placeOf(key, env);
    if (place) all.env[key.url] = place.address;
    all.rules.push(...(place ? [place.rule] : key.hosts.map(ruleOf)));
    if (!given.has(key.variable)) hold(key, { place, env }, all);
  }
  return all;
}

function hold(
  { variable, shape, header, url, hosts }: Key,
  { place, env }: { place: Place | undefined; env: Env },
  all: Keys,
) {
  if (isProtected(place)) {
    all.held.push({ variable, shape, header, value: env[variable]!, hosts: place ? [place.host] : hosts });
    return;
  }
  all.env[variable] = `${shape}${'0'.repeat(48)}`;
  all.notes.push(`${variable} is zeros inside, as ${url} is no https address with a name; -e ${variable} shows yours`);
}

/** Another address of a service than its own. */
interface Place {
  address: string;
  host: string;
  isTls: boolean;
  rule: HostRule;
}

function placeOf({ url }: Key, env: Env): Place | undefined {
  const address = env[url];
  if (!address) return undefined;
  const parsed = URL.canParse(address) ? new URL(address) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    throw new CliError(`${url} must be an http or https address, not ${JSON.stringify(address)}`);
  }
  if (parsed.password !== '') throw new CliError(`${url} must have no password: the agent would have it`);
  const isTls = parsed.protocol === 'https:';
  const host = parsed.hostname.replace(/^\[|\]$/g, '');
  const ports = [Number(parsed.port || (isTls ? 443 : 80))];
  return { address, host, isTls, rule: { ...ruleOf(host), ports } };
}

const isProtected = (place: Place | undefined): boolean =>
  place === undefined || (place.isTls && place.rule.host !== undefined);

/** `localhost` is this machine. */
function ruleOf(host: string): HostRule {
  if (host === 'localhost') return { cidr: '127.0.0.1', ports: [] };
  return isIP(host) === 0 ? { host, ports: [] } : { cidr: host, ports: [] };
}
