import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { findSandbox } from '../find-sandbox.ts';
import { NETWORK_OPTIONS, networkOf } from '../network-options.ts';

export default command({
  name: 'network set',
  summary: 'replace what commands of a sandbox can connect to, also while they run',
  usage: 'SANDBOX',
  details: 'Connections that are no longer allowed are cut.',
  options: NETWORK_OPTIONS,
  examples: [
    'paddock network set ID --allow api.example.com --allow-preset npm',
    'paddock network set ID --network none',
  ],
  operands: [1, 1],
  async run(context, { operands: [id], values }) {
    const policy = networkOf(values);
    if (policy === undefined) throw new UsageError('give --network, --allow, --deny or --allow-preset');
    const sandbox = await findSandbox(context, id!);
    const set = await sandbox.network.set(policy, { signal: context.signal });
    context.out.result(set, () => `${set.mode}, ${set.rules.length} rules`);
    return 0;
  },
});
