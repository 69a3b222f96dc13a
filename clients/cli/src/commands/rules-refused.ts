import { command } from '../command.ts';
import { findSandbox } from '../find-sandbox.ts';
import { printableName, quotedName } from '../printable.ts';

export default command({
  name: 'rules refused',
  summary: 'list the paths at which the rules refused what commands tried',
  usage: 'SANDBOX',
  details: 'Since the sandbox was started, the first 256 paths.',
  options: {},
  examples: ['paddock rules refused ID'],
  operands: [1, 1],
  async run(context, { operands: [id] }) {
    const { out, signal } = context;
    const sandbox = await findSandbox(context, id!);
    const found = await sandbox.refusals({ signal });
    out.result(found, () =>
      found.map(({ path, reason, count }) => `${quotedName(path)}: ${printableName(reason)} (${count})`).join('\n'),
    );
    return 0;
  },
});
