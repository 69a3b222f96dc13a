import type { Sandbox } from '../../../typescript/src/sandbox.ts';
import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { findSandbox } from '../find-sandbox.ts';
import { NAME_LABEL } from '../resolve.ts';
import { rulesOf } from '../sandbox-options.ts';

export default command({
  name: 'fork',
  summary: 'create sandboxes that start from the state of another one',
  usage: 'SANDBOX',
  options: {
    name: { type: 'string', value: 'NAME', help: 'name of the only fork; without it forks have none' },
    number: { type: 'string', short: 'n', value: 'N', help: 'how many; default: 1' },
    checkpoint: { type: 'string', value: 'NAME', help: 'start from this checkpoint' },
    preset: { type: 'string', value: 'NAME', help: 'rules instead of those of the sandbox' },
    rule: { type: 'string', multiple: true, value: 'LEVEL:PATTERN', help: 'the same, one by one' },
  },
  examples: ['paddock fork ID -n 3'],
  operands: [1, 1],
  async run(context, { operands: [id], values }) {
    const { name, number = '1', checkpoint, preset, rule } = values;
    if (!/^[1-9]\d{0,3}$/.test(number)) throw new UsageError('--number is a number from 1 on');
    if (name !== undefined && number !== '1') throw new UsageError('--name is for one fork, without --number');
    const sandbox = await findSandbox(context, id!);
    const rules = rule && { rules: rulesOf(rule) };
    const labels = labelsOf(sandbox, name);
    const options = { checkpoint, preset, labels, ...rules, signal: context.signal };
    const forks = await sandbox.forks(Number(number), options);
    const infos = forks.map(({ info }) => info);
    context.out.result(infos, () => infos.map((each) => each.id).join('\n'));
    return 0;
  },
});

/** A name is of one sandbox. undefined: the same labels as the forked one. */
function labelsOf({ info: { labels } }: Sandbox, name: string | undefined): Record<string, string> | undefined {
  const { [NAME_LABEL]: of, ...others } = labels;
  if (name !== undefined) return { ...others, [NAME_LABEL]: name };
  return of === undefined ? undefined : { ...others, 'fork-of': of };
}
