import { command } from '../command.ts';
import { findSandbox } from '../find-sandbox.ts';
import { ruleOf } from '../network-options.ts';

export default command({
  name: 'network allow',
  summary: 'let commands of a sandbox connect to more hosts, also while they run',
  usage: 'SANDBOX HOST[:PORTS]...',
  details: 'The rules that the sandbox has stay. A rule that denies the host decides over this.',
  options: {},
  examples: ['paddock network allow ID api.example.com', 'paddock network allow ID "*.example.com:8443"'],
  operands: [2, Number.POSITIVE_INFINITY],
  async run(context, { operands: [id, ...hosts] }) {
    const { out, signal } = context;
    const added = hosts.map((host) => ruleOf('allow', host));
    const { network } = await findSandbox(context, id!);
    const { mode, rules, revision } = await network.get({ signal });
    // Somebody else's change meanwhile is not undone: the revision would be another.
    const policy = { mode: mode === 'none' ? 'allow_list' : mode, rules: [...rules, ...added], revision };
    const set = await network.set(policy, { signal });
    out.result(set, () => `${set.mode}, ${set.rules.length} rules`);
    return 0;
  },
});
