import { command } from '../command.ts';
import { findSandbox } from '../find-sandbox.ts';

export default command({
  name: 'stop',
  summary: 'end the processes of sandboxes, and keep their files',
  usage: 'SANDBOX...',
  options: {},
  examples: ['paddock stop ID'],
  operands: [1, Number.POSITIVE_INFINITY],
  async run(context, { operands }) {
    for (const id of operands) {
      const sandbox = await findSandbox(context, id);
      await sandbox.stop({ signal: context.signal });
      context.out.result(sandbox.info, () => sandbox.id);
    }
    return 0;
  },
});
