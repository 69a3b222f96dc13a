import type { DeniedHost } from 'paddock-sandbox';
import type { Context } from '../command-line/command.ts';
import { printableName } from '../output/printable.ts';
import { serverSettingsPath } from '../server/config-file.ts';
import { isSection } from '../settings/read-yaml.ts';
import { serverSettings } from '../settings/server-settings.ts';

/** Of rules that name none. */
const USUAL_PORTS = [80, 443];

/**
 * The two settings that allow private addresses which a command was refused, as one has the mirror of a registry at; '' if it was
 * refused none. `sandboxId`: undefined if the sandbox ends with the command.
 */
export function settingsThatAllow(
  sandboxId: string | undefined,
  hosts: readonly DeniedHost[],
  context: Pick<Context, 'connection' | 'env'>,
): string {
  const refused = hosts.filter(({ code, address }) => ['special_address', 'ceiling'].includes(code) && address !== '');
  if (refused.length === 0) return '';
  const isLocal = context.connection().from === 'default';
  const file = isLocal ? printableName(serverSettingsPath(context.env)) : 'the configuration of the server';
  const most = [...(isLocal ? present(context.env) : ['public']), ...refused.map(({ address }) => address)];
  const lines = [`  network: {allow_max: ${listOf(most)}}    # in ${file}`];
  const places = refused.filter(({ code }) => code === 'special_address').map(placeOf);
  if (places.length > 0) {
    const inProject = `network: {allow: ${listOf(places)}}    # in .paddock.yaml, or --allow`;
    const allow = `paddock network allow ${sandboxId} ${[...new Set(places)].join(' ')}`;
    lines.push(`  ${sandboxId === undefined ? inProject : allow}`);
  }
  const which = lines.length === 1 ? 'this line allows' : 'these two lines allow';
  return [`paddock: ${reasonOf(refused[0]!)}; ${which} it:`, ...lines].join('\n');
}

function reasonOf({ host, port, address }: DeniedHost): string {
  if (host === address) return `${address} is not a public address`;
  return `${printableName(host)}:${port} is at ${address}, which is not a public address`;
}

function placeOf({ address, port }: DeniedHost): string {
  if (USUAL_PORTS.includes(port)) return address;
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** What is permitted already stays so. */
function present(env: Context['env']): string[] {
  const network = serverSettings(env)?.values.network;
  const most = isSection(network) ? network.allow_max : undefined;
  return Array.isArray(most) ? most.map(String) : ['public'];
}

const listOf = (texts: readonly string[]): string => `[${[...new Set(texts)].map(quoted).join(', ')}]`;

/** In YAML a plain text has no brackets and does not begin with "*". */
const quoted = (text: string): string => (/^[\w.]+(\/\d+)?(:[\d]+)?$/.test(text) ? text : JSON.stringify(text));
