import { command } from '../command.ts';
import { findSandbox } from '../find-sandbox.ts';

export default command({
  name: 'rollback',
  summary: 'return to a checkpoint',
  usage: 'SANDBOX CHECKPOINT',
  options: {},
  examples: ['paddock rollback ID before-upgrade'],
  operands: [2, 2],
  async run(context, { operands: [id, name] }) {
    const sandbox = await findSandbox(context, id!);
    await sandbox.rollback(name!, { signal: context.signal });
    context.out.result(sandbox.info, () => sandbox.id);
    return 0;
  },
});
