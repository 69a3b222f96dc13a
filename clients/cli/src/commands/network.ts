import type { NetworkRule } from '../../../typescript/src/contract/messages.ts';
import { command } from '../command.ts';
import { findSandbox } from '../find-sandbox.ts';

export default command({
  name: 'network',
  summary: 'show what commands of a sandbox can connect to',
  usage: 'SANDBOX',
  options: {},
  examples: ['paddock network ID', 'paddock network ID --json'],
  operands: [1, 1],
  async run(context, { operands: [id] }) {
    const { out, signal } = context;
    const policy = await (await findSandbox(context, id!)).network.get({ signal });
    if (out.json) out.value(policy);
    else {
      out.line(policy.mode);
      if (policy.rules.length > 0)
        out.table(['ACTION', 'HOST', 'PORTS', 'REQUESTS', 'PRESET'], policy.rules.map(rowOf));
    }
    return 0;
  },
});

function rowOf({ action, host, cidr, ports, methods, pathPrefix, preset }: NetworkRule): string[] {
  const allPorts = action === 'deny' ? 'all' : '80,443';
  const requests = [methods.join(','), pathPrefix].filter((each) => each !== '').join(' ') || 'all';
  return [action, host || cidr, ports.join(',') || allPorts, requests, preset];
}
