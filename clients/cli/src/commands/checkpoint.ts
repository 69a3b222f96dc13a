import { command } from '../command.ts';
import { findSandbox } from '../find-sandbox.ts';
import { timeText } from '../status.ts';

export default command({
  name: 'checkpoint',
  summary: 'save the state of a sandbox under a name, or list those that are saved',
  usage: 'SANDBOX [NAME]',
  options: { delete: { type: 'boolean', help: 'remove the checkpoint NAME' } },
  examples: ['paddock checkpoint ID before-upgrade', 'paddock checkpoint ID'],
  operands: [1, 2],
  async run(context, { operands: [id, name], values }) {
    const { out, signal } = context;
    const sandbox = await findSandbox(context, id!);
    if (name === undefined) {
      const found = await sandbox.checkpoints({ signal });
      if (out.json) out.value(found);
      else
        out.table(
          ['CHECKPOINT', 'CREATED', 'FILES', 'BYTES'],
          found.map((each) => [each.name, timeText(each.createdAt), String(each.files), String(each.bytes)]),
        );
    } else if (values.delete) await sandbox.deleteCheckpoint(name, { signal });
    else {
      const made = await sandbox.checkpoint(name, { signal });
      out.result(made, () => made.name);
    }
    return 0;
  },
});
