import { command } from '../command.ts';
import { findSandbox } from '../find-sandbox.ts';
import { ruleOf } from '../network-options.ts';
import { printableName } from '../printable.ts';

export default command({
  name: 'network explain',
  summary: 'say whether commands of a sandbox can connect to hosts, and what decides',
  usage: 'SANDBOX HOST[:PORT]...',
  details: 'The exit code is 1 if one of them is refused.',
  options: {
    method: { type: 'string', value: 'METHOD', help: 'of an HTTP request' },
    path: { type: 'string', value: 'PATH', help: 'of an HTTP request' },
  },
  examples: ['paddock network explain ID registry.npmjs.org', 'paddock network explain ID example.com:22'],
  operands: [2, Number.POSITIVE_INFINITY],
  async run(context, { operands: [id, ...hosts], values }) {
    const { out, signal } = context;
    const sandbox = await findSandbox(context, id!);
    const found = await Promise.all(
      hosts.map((text) => {
        const { host, cidr, ports } = ruleOf('allow', text);
        return sandbox.network.explain(host ?? cidr ?? '', { ...(ports[0] && { port: ports[0] }), ...values, signal });
      }),
    );
    out.result(found, () =>
      found
        .map((each) => `${each.host}: ${each.allowed ? 'allowed' : 'refused'}: ${printableName(each.reason)}`)
        .join('\n'),
    );
    return found.every(({ allowed }) => allowed) ? 0 : 1;
  },
});
