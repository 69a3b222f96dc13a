import { beyondCeiling } from '../policy/ceiling.ts';
import { canonicalName, matchesName } from '../policy/names.ts';
import type { Ceiling, Decision, NetworkPolicy, Target } from '../policy/policy.ts';

const WEB_PORTS = [80, 443];

interface Decider {
  allowMax: Ceiling;
  decide(target: Target): Decision;
}

/**
 * Whether a connection to any port of the name is allowed: only then the name has an address. Programs ask for as many names as
 * they like, and a policy may have thousands of ports: few of them are decided about.
 */
export function decideName(policy: NetworkPolicy, name: string, { allowMax, decide }: Decider): Decision {
  const isDenied = deniedPorts(policy, name);
  let first: Decision | undefined;
  for (const port of portsOf(policy, name, allowMax)) {
    if (first !== undefined) {
      if (isDenied(port) || beyondCeiling({ name, address: undefined, port }, undefined, allowMax)) continue;
    }
    const decision = decide({ host: name, address: undefined, port });
    if (decision.allowed) return decision;
    first ??= decision;
  }
  return first!;
}

/**
 * Names of one kind have one decision. The threat: a program asks for any number of names below one that many rules are
 * about, and each decision takes a millisecond of the thread of all networks.
 */
export function kindOf({ rules }: NetworkPolicy, name: string, allowMax: Ceiling): string {
  const matching = (entries: readonly { host: string }[]) =>
    entries.flatMap(({ host }, at) => (host !== '' && matchesName(host, name) ? [at] : [])).join();
  return `${'name' in canonicalName(name)} ${matching(rules)} ${matching(allowMax ?? [])}`;
}

/** Ports of which one is allowed if any is. The first ones may be allowed by no rule. */
function* portsOf({ mode, rules }: NetworkPolicy, name: string, allowMax: Ceiling): Generator<number> {
  yield* WEB_PORTS;
  if (mode === 'open') {
    const named = new Set(rules.flatMap((each) => each.ports));
    let unnamed = 1;
    while (named.has(unnamed)) unnamed++;
    yield unnamed;
    for (const { ports } of allowMax ?? []) yield* ports;
  }
  for (const { action, host, ports } of rules) {
    if (action === 'allow' && host !== '' && matchesName(host, name)) yield* ports;
  }
}

/** Ports that rules deny for the name, whatever is asked for there. */
function deniedPorts({ rules }: NetworkPolicy, name: string): (port: number) => boolean {
  const denying = rules.filter(
    ({ action, host, methods, path_prefix }) =>
      action === 'deny' && host !== '' && matchesName(host, name) && methods.length === 0 && path_prefix === '',
  );
  const ports = new Set(denying.flatMap((each) => each.ports));
  const isAll = denying.some((each) => each.ports.length === 0);
  return (port) => isAll || ports.has(port);
}
