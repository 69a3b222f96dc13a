import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { findSandbox } from '../find-sandbox.ts';
import { rulesOf } from '../sandbox-options.ts';

export default command({
  name: 'fork',
  summary: 'create sandboxes that start from the state of another one',
  usage: 'SANDBOX',
  options: {
    number: { type: 'string', short: 'n', value: 'N', help: 'how many; default: 1' },
    checkpoint: { type: 'string', value: 'NAME', help: 'start from this checkpoint' },
    preset: { type: 'string', value: 'NAME', help: 'rules instead of those of the sandbox' },
    rule: { type: 'string', multiple: true, value: 'LEVEL:PATTERN', help: 'the same, one by one' },
  },
  examples: ['paddock fork ID -n 3'],
  operands: [1, 1],
  async run(context, { operands: [id], values }) {
    const { number = '1', checkpoint, preset, rule } = values;
    if (!/^[1-9]\d{0,3}$/.test(number)) throw new UsageError('--number is a number from 1 on');
    const sandbox = await findSandbox(context, id!);
    const rules = rule && { rules: rulesOf(rule) };
    const forks = await sandbox.forks(Number(number), { checkpoint, preset, ...rules, signal: context.signal });
    const infos = forks.map(({ info }) => info);
    context.out.result(infos, () => infos.map((each) => each.id).join('\n'));
    return 0;
  },
});
