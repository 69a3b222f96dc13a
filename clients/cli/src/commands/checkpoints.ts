import { command, one } from '../command-line/command.ts';
import { timeText } from '../output/times.ts';

export const create = command({
  summary: 'save the state of a sandbox under a name',
  operands: { sandbox: one('SANDBOX'), name: one('NAME') },
  options: {},
  examples: ['paddock checkpoint create SANDBOX before-upgrade'],
  async run(context, { operands: { sandbox, name } }) {
    const made = await (await context.sandbox(sandbox)).checkpoint(name, context.call);
    context.out.result(made, () => made.name);
  },
});

export const ls = command({
  summary: 'list the saved states of a sandbox',
  operands: { sandbox: one('SANDBOX') },
  options: {},
  examples: ['paddock checkpoint ls SANDBOX'],
  async run(context, { operands: { sandbox } }) {
    const found = await (await context.sandbox(sandbox)).checkpoints(context.call);
    await context.out.list(found, {
      heading: ['CHECKPOINT', 'CREATED', 'FILES', 'BYTES'],
      row: ({ name, createdAt, files, bytes }) => [name, timeText(createdAt), String(files), String(bytes)],
    });
  },
});

export const rm = command({
  summary: 'remove a saved state of a sandbox',
  operands: { sandbox: one('SANDBOX'), checkpoint: one('CHECKPOINT') },
  options: {},
  examples: ['paddock checkpoint rm SANDBOX before-upgrade'],
  async run(context, { operands: { sandbox, checkpoint } }) {
    await (await context.sandbox(sandbox)).deleteCheckpoint(checkpoint, context.call);
  },
});

export const rollback = command({
  summary: 'return a sandbox to a checkpoint',
  operands: { sandbox: one('SANDBOX'), checkpoint: one('CHECKPOINT') },
  options: {},
  examples: ['paddock rollback SANDBOX before-upgrade'],
  async run(context, { operands }) {
    const sandbox = await context.sandbox(operands.sandbox);
    await sandbox.rollback(operands.checkpoint, context.call);
    context.out.result(sandbox.info, () => sandbox.id);
  },
});
