import { isIP } from 'node:net';
import type { NetworkOptions } from 'paddock-sandbox';
import type { Options, Values } from '../command-line/command.ts';
import { UsageError } from '../command-line/errors.ts';

/** Options of the network of a sandbox. */
export const NETWORK_OPTIONS = {
  network: { value: 'MODE', help: 'none, allow_list or open; with --allow the default is allow_list' },
  allow: {
    multiple: true,
    value: 'HOST[:PORTS]',
    help: 'let commands connect to it: api.example.com, *.example.com:443,8443 or 10.1.0.0/16',
  },
  deny: { multiple: true, value: 'HOST[:PORTS]', help: 'do not let commands connect to it; decides over --allow' },
  'allow-preset': { multiple: true, value: 'NAME', help: 'let commands use npm, pypi, debian, github, …' },
} as const satisfies Options;

interface RuleGiven {
  action: 'allow' | 'deny';
  ports: readonly number[];
  host?: string;
  cidr?: string;
}

const MODES = ['none', 'allow_list', 'open'];

/** undefined: none of the options is given. */
export function networkOf(values: Values<typeof NETWORK_OPTIONS>): NetworkOptions | undefined {
  const { network, allow = [], deny = [], 'allow-preset': presets = [] } = values;
  const rules = [...allow.map((text) => ruleOf('allow', text)), ...deny.map((text) => ruleOf('deny', text))];
  if (network === undefined && rules.length === 0 && presets.length === 0) return undefined;
  const mode = network ?? 'allow_list';
  if (!MODES.includes(mode)) throw new UsageError(`--network is ${MODES.join(', ')}, not ${JSON.stringify(mode)}`);
  return { mode, rules, presets };
}

/** `HOST`, `HOST:PORT,PORT`, a network or an address; IPv6 with ports is in brackets. */
export function ruleOf(action: 'allow' | 'deny', text: string): RuleGiven {
  const isPlain = isIP(text.replace(/\/\d+$/, '')) === 6;
  const [, bracketed, plain = '', list] = (!isPlain && /^(?:\[(.*)\]|([^:]*))(?::([\d,]+))?$/.exec(text)) || [];
  const host = isPlain ? text : (bracketed ?? plain);
  if (host === '') throw new UsageError(`--${action} is a host like api.example.com:443, not ${JSON.stringify(text)}`);
  const isNetwork = host.includes('/') || isIP(host) !== 0;
  const ports = list === undefined ? [] : list.split(',').map(Number);
  return { action, ports, ...(isNetwork ? { cidr: host } : { host }) };
}
