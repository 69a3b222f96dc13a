import type { Sandbox, SandboxInfo } from 'paddock-sandbox';
import { command, one, some } from '../command-line/command.ts';
import { UsageError } from '../command-line/errors.ts';
import { NAME_LABEL } from '../names/sandboxes.ts';
import { countOf } from '../options/durations.ts';
import { labelsOf } from '../options/labels.ts';
import { rulesOf } from '../options/sandbox.ts';
import { timeText } from '../output/times.ts';
import { destroyOwned } from '../uploads/new-sandbox.ts';
import { each } from './each.ts';

export const ls = command({
  summary: 'list sandboxes',
  operands: {},
  options: {
    quiet: { short: 'q', help: 'only the ids' },
    name: { value: 'NAME', help: 'only those of this name' },
    label: { short: 'l', multiple: true, value: 'KEY=VALUE', help: 'only those with this label' },
    owner: { value: 'OWNER', help: 'only those of this owner' },
    status: { oneOf: ['pending', 'running', 'stopped', 'error'], help: 'only those with this status' },
  },
  examples: ['paddock ls', 'paddock ls --label team=a --status running', 'paddock rm $(paddock ls -q)'],
  async run({ out, paddock, signal }, { values: { name, label, owner, status, quiet } }) {
    const labels = { ...labelsOf(label), ...(name !== undefined && { [NAME_LABEL]: name }) };
    const { api } = await paddock();
    const found = api.listSandboxes({ labels, ownerId: owner, ...(status && { status }) }, { signal });
    const heading = ['SANDBOX', 'NAME', 'STATUS', 'OWNER', 'CREATED', 'LABELS'];
    await out.list(found, { heading, row: rowOf, quiet: quiet && (({ id }) => id) });
  },
});

function rowOf(sandbox: SandboxInfo): string[] {
  const { id, status, ownerId, createdAt, labels } = sandbox;
  const { [NAME_LABEL]: name = '', ...others } = labels;
  // Those of this program say nothing to its user.
  const shown = Object.entries(others).filter(([key]) => !key.startsWith('paddock.'));
  const text = shown.map(([key, value]) => `${key}=${value}`).join(' ');
  return [id, name, status, ownerId, timeText(createdAt), text];
}

export const stop = command({
  summary: 'end the processes of sandboxes, and keep their files',
  operands: { sandboxes: some('SANDBOX') },
  options: {},
  examples: ['paddock stop SANDBOX'],
  run: (context, { operands: { sandboxes } }) =>
    each(context, sandboxes, async (given) => {
      const sandbox = await context.sandbox(given);
      await sandbox.stop(context.call);
      return sandbox.id;
    }),
});

export const resume = command({
  summary: 'start sandboxes that are stopped',
  operands: { sandboxes: some('SANDBOX') },
  options: {},
  examples: ['paddock resume SANDBOX'],
  run: (context, { operands: { sandboxes } }) =>
    each(context, sandboxes, async (given) => {
      const sandbox = await context.sandbox(given);
      await sandbox.resume(context.call);
      return sandbox.id;
    }),
});

export const rm = command({
  summary: 'destroy sandboxes, with their changes',
  details: `The codebase that "create --from" or "run" made is removed with its last sandbox, unless something was committed
to it. Other codebases stay.`,
  operands: { sandboxes: some('SANDBOX') },
  options: {},
  examples: ['paddock rm SANDBOX'],
  run: (context, { operands: { sandboxes } }) =>
    each(context, sandboxes, async (given) => {
      const sandbox = await context.sandbox(given);
      await destroyOwned(sandbox, context.call);
      return sandbox.id;
    }),
});

export const fork = command({
  summary: 'create sandboxes that start from the state of another one',
  operands: { sandbox: one('SANDBOX') },
  options: {
    name: { value: 'NAME', help: 'name of the fork; without it forks have none' },
    number: { short: 'n', value: 'N', read: countOf, help: 'how many (default: 1)' },
    checkpoint: { value: 'NAME', help: 'start from this checkpoint' },
    preset: { value: 'NAME', help: 'rules instead of those of the sandbox' },
    rule: { multiple: true, value: 'LEVEL:PATTERN', help: 'the same, one by one' },
  },
  examples: ['paddock fork SANDBOX -n 3'],
  async run(context, { operands, values: { name, number = 1, checkpoint, preset, rule } }) {
    if (number === 0) throw new UsageError('--number is a number from 1 on');
    if (name !== undefined && number !== 1) throw new UsageError('--name is for one fork, without --number');
    const sandbox = await context.sandbox(operands.sandbox);
    const rules = rule && { rules: rulesOf(rule) };
    const options = { checkpoint, preset, labels: forkLabels(sandbox, name), ...rules, signal: context.signal };
    const infos = (await sandbox.forks(number, options)).map(({ info }) => info);
    context.out.result(infos, () => infos.map(({ id }) => id).join('\n'));
  },
});

/** A name is of one sandbox. undefined: the same labels as the forked one. */
function forkLabels({ info: { labels } }: Sandbox, name: string | undefined): Record<string, string> | undefined {
  const { [NAME_LABEL]: of, ...others } = labels;
  if (name !== undefined) return { ...others, [NAME_LABEL]: name };
  return of === undefined ? undefined : { ...others, 'fork-of': of };
}
