import { command } from '../command.ts';
import { findSandbox } from '../find-sandbox.ts';

export default command({
  name: 'start',
  summary: 'start sandboxes that are stopped',
  usage: 'SANDBOX...',
  options: {},
  examples: ['paddock start ID'],
  operands: [1, Number.POSITIVE_INFINITY],
  async run(context, { operands }) {
    for (const id of operands) {
      const sandbox = await findSandbox(context, id);
      await sandbox.resume({ signal: context.signal });
      context.out.result(sandbox.info, () => sandbox.id);
    }
    return 0;
  },
});
