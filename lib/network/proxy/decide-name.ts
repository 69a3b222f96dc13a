import { matchesName } from '../policy/names.ts';
import type { Decision, NetworkPolicy, Target } from '../policy/policy.ts';

const WEB_PORTS = [80, 443];

/** Whether a connection to any port of the name is allowed: only then the name has an address. */
export function decideName(policy: NetworkPolicy, name: string, decide: (target: Target) => Decision): Decision {
  let first: Decision | undefined;
  for (const port of portsOf(policy, name)) {
    const decision = decide({ host: name, address: undefined, port });
    if (decision.allowed) return decision;
    first ??= decision;
  }
  return first!;
}

/** Ports of which one is allowed if any is. */
function portsOf({ mode, rules }: NetworkPolicy, name: string): Set<number> {
  const ports = new Set(WEB_PORTS);
  if (mode === 'open') {
    const named = new Set(rules.flatMap((each) => each.ports));
    let unnamed = 1;
    while (named.has(unnamed)) unnamed++;
    ports.add(unnamed);
  }
  for (const { action, host, ports: own } of rules) {
    if (action === 'allow' && host !== '' && matchesName(host, name)) for (const port of own) ports.add(port);
  }
  return ports;
}
