import type { NetworkPolicy, NetworkRule } from 'paddock-sandbox';
import { type Context, command, one, some } from '../command-line/command.ts';
import { UsageError } from '../command-line/errors.ts';
import { NETWORK_OPTIONS, networkOf, ruleOf } from '../options/network.ts';
import { printableName } from '../output/printable.ts';

export const get = command({
  summary: 'show what commands of a sandbox can connect to',
  operands: { sandbox: one('SANDBOX') },
  options: {},
  examples: ['paddock network get SANDBOX', 'paddock network get SANDBOX --json'],
  async run(context, { operands: { sandbox } }) {
    const { out } = context;
    const policy = await (await context.sandbox(sandbox)).network.get(context.call);
    if (out.json) return out.value(policy);
    out.line(policy.mode);
    if (policy.rules.length > 0) out.table(['ACTION', 'HOST', 'PORTS', 'REQUESTS', 'PRESET'], policy.rules.map(rowOf));
  },
});

function rowOf({ action, host, cidr, ports, methods, pathPrefix, preset }: NetworkRule): string[] {
  const allPorts = action === 'deny' ? 'all' : '80,443';
  const requests = [methods.join(','), pathPrefix].filter((each) => each !== '').join(' ') || 'all';
  return [action, host || cidr, ports.join(',') || allPorts, requests, preset];
}

const tell = ({ out }: Context, policy: NetworkPolicy): void =>
  out.result(policy, () => `${policy.mode}, ${policy.rules.length} rules`);

export const set = command({
  summary: 'replace what commands of a sandbox can connect to, also while they run',
  details: 'Connections that are no longer allowed are cut.',
  operands: { sandbox: one('SANDBOX') },
  options: NETWORK_OPTIONS,
  examples: [
    'paddock network set SANDBOX --allow api.example.com --allow-preset npm',
    'paddock network set SANDBOX --network none',
  ],
  async run(context, { operands: { sandbox }, values }) {
    const policy = networkOf(values);
    if (policy === undefined) throw new UsageError('give --network, --allow, --deny or --allow-preset');
    tell(context, await (await context.sandbox(sandbox)).network.set(policy, context.call));
  },
});

export const allow = command({
  summary: 'let commands of a sandbox connect to more hosts, also while they run',
  details: 'The rules that the sandbox has stay. A rule that denies the host decides over this.',
  operands: { sandbox: one('SANDBOX'), hosts: some('HOST[:PORTS]') },
  options: {},
  examples: ['paddock network allow SANDBOX api.example.com', 'paddock network allow SANDBOX "*.example.com:8443"'],
  async run(context, { operands: { sandbox, hosts } }) {
    const added = hosts.map((host) => ruleOf('allow', host));
    const { network } = await context.sandbox(sandbox);
    const { mode, rules, revision } = await network.get(context.call);
    // Somebody else's change meanwhile is not undone: the revision would be another.
    const policy = { mode: mode === 'none' ? 'allow_list' : mode, rules: [...rules, ...added], revision };
    tell(context, await network.set(policy, context.call));
  },
});

export const explain = command({
  summary: 'say whether commands of a sandbox can connect to hosts, and what decides',
  details: 'The exit code is 1 if one of them is refused.',
  operands: { sandbox: one('SANDBOX'), hosts: some('HOST[:PORT]') },
  options: {
    method: { value: 'METHOD', help: 'of an HTTP request' },
    path: { value: 'PATH', help: 'of an HTTP request' },
  },
  examples: ['paddock network explain SANDBOX registry.npmjs.org', 'paddock network explain SANDBOX example.com:22'],
  async run({ out, signal, ...context }, { operands: { sandbox: given, hosts }, values }) {
    const { network } = await context.sandbox(given);
    const found = await Promise.all(
      hosts.map((text) => {
        const { host, cidr, ports } = ruleOf('allow', text);
        return network.explain(host ?? cidr ?? '', { ...(ports[0] && { port: ports[0] }), ...values, signal });
      }),
    );
    out.result(found, () =>
      found
        .map(({ host, allowed, reason }) => `${host}: ${allowed ? 'allowed' : 'refused'}: ${printableName(reason)}`)
        .join('\n'),
    );
    return found.every(({ allowed }) => allowed) ? 0 : 1;
  },
});
