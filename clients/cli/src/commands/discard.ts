import { CHOICE_OPTIONS, choiceOf, counted } from '../changes.ts';
import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { findSandbox } from '../find-sandbox.ts';

export default command({
  name: 'discard',
  summary: 'drop changes of a sandbox',
  usage: 'SANDBOX PATH... | SANDBOX --all',
  options: { all: { type: 'boolean', short: 'a', help: 'all changes' }, ...CHOICE_OPTIONS },
  examples: ['paddock discard ID src/main.ts', 'paddock discard ID --all'],
  operands: [1, Number.POSITIVE_INFINITY],
  async run(context, { operands: [id, ...paths], values }) {
    if ((paths.length === 0) !== (values.all ?? false)) throw new UsageError('name the paths, or --all');
    const sandbox = await findSandbox(context, id!);
    const discarded = await sandbox.discard({ ...choiceOf(paths, values), signal: context.signal });
    context.out.result({ discarded }, () => `${counted(discarded, 'change')} discarded`);
    return 0;
  },
});
