import { BlockList } from 'node:net';
import type { NetworkPolicy, NetworkRule, Target } from '../../../../lib/network/policy/policy.ts';

/**
 * The decision about a connection, as docs/network.md states it, by other means than lib/network: names by regular expressions,
 * networks by Node.js, one list of conditions after the other. For names without upper case, IPv4, and rules without paths.
 */
export function oracle(
  policy: NetworkPolicy,
  target: Target,
  {
    ceiling,
    own,
  }: { ceiling: readonly { host: string; cidr: string; ports: readonly number[] }[] | undefined; own: string },
): string {
  if (policy.mode === 'none') return 'not_allowed';
  const matches = (rule: NetworkRule) =>
    (rule.host !== ''
      ? target.host !== undefined && isNamed(rule.host, target.host)
      : has(rule.cidr, target.address)) &&
    (rule.ports.length > 0
      ? rule.ports.includes(target.port)
      : rule.action === 'deny' || [80, 443].includes(target.port)) &&
    (rule.methods.length === 0 || target.method === undefined || rule.methods.includes(target.method));
  const found = policy.rules.filter(matches);
  const denies = ({ action, methods }: NetworkRule) =>
    action === 'deny' && (methods.length === 0 || target.method !== undefined);
  if (found.some(denies)) return 'denied_by_rule';
  const allows = found.filter(({ action }) => action === 'allow');
  const special = target.address === undefined ? undefined : specialNetwork(target.address, own);
  if (special !== undefined) {
    const isNamedAlone = special.endsWith('/32');
    const listed = allows.some(
      ({ cidr }) => cidr !== '' && (isNamedAlone ? bitsOf(cidr) === 32 : bitsOf(cidr) >= bitsOf(special)),
    );
    if (!listed) return 'special_address';
  }
  if (policy.mode === 'allow_list' && allows.length === 0) return 'not_allowed';
  const within = (ceiling ?? [{ host: '*', cidr: '', ports: [] }]).some(({ host, cidr, ports }) => {
    if (ports.length > 0 && !ports.includes(target.port)) return false;
    if (cidr !== '')
      return target.address === undefined || (has(cidr, target.address) && (!special || bitsOf(cidr) >= 8));
    return special === undefined && (host === '*' || (target.host !== undefined && isNamed(host, target.host)));
  });
  return within ? 'allowed' : 'ceiling';
}

const isNamed = (pattern: string, name: string) =>
  new RegExp(`^${pattern.replaceAll('.', '\\.').replace('*', '[a-z.]+')}$`).test(name);

const bitsOf = (cidr: string) => Number(cidr.split('/')[1]);

function has(cidr: string, address: string | undefined): boolean {
  if (address === undefined) return false;
  const list = new BlockList();
  list.addSubnet(cidr.split('/')[0]!, bitsOf(cidr), 'ipv4');
  return list.check(address, 'ipv4');
}

/** Of the addresses that the test uses. An address of the machine must be named alone. */
function specialNetwork(address: string, own: string): string | undefined {
  if (address === own || has('127.0.0.0/8', address)) return `${address}/32`;
  return ['10.0.0.0/8', '169.254.0.0/16'].find((cidr) => has(cidr, address));
}
