import { command, one, some } from '../command-line/command.ts';
import { agoText } from '../output/process-text.ts';
import { each } from './each.ts';

export const OWNER = { value: 'OWNER', help: 'secrets of this owner; for admins' } as const;

export const ls = command({
  summary: 'list secrets, without their values',
  operands: {},
  options: { owner: OWNER, quiet: { short: 'q', help: 'only the names' } },
  examples: ['paddock secret ls'],
  async run({ out, signal, paddock }, { values: { owner, quiet } }) {
    const { secrets } = await paddock();
    await out.list(secrets.list({ signal, ownerId: owner }), {
      heading: ['SECRET', 'OF', 'HOSTS', 'PARTS', 'SET', 'SANDBOXES'],
      row: ({ name, ownerId, hosts, parts, updatedAt, usedBy }) => [
        name,
        ownerId,
        hosts.join(','),
        parts.join(','),
        `${agoText(updatedAt)} ago`,
        String(usedBy.length),
      ],
      quiet: quiet && (({ name }) => name),
    });
  },
});

export const get = command({
  summary: 'show a secret, without its value',
  operands: { name: one('SECRET') },
  options: { owner: OWNER },
  examples: ['paddock secret get github'],
  async run({ out, signal, paddock }, { operands: { name }, values: { owner } }) {
    const found = await (await paddock()).secrets.get(name, { ownerId: owner, signal });
    const { hosts, parts, header, revision, usedBy } = found;
    if (out.json) out.value(found);
    else
      out.table(
        [found.name, ''],
        [
          ['hosts', hosts.join(', ')],
          ['parts', parts.join(', ')],
          ...(header === undefined ? [] : [['header', header]]),
          ['revision', String(revision)],
          ['sandboxes', usedBy.join(', ')],
        ],
      );
  },
});

export const rm = command({
  summary: 'remove secrets',
  operands: { names: some('SECRET') },
  options: { force: { short: 'f', help: 'although sandboxes are bound to them' }, owner: OWNER },
  examples: ['paddock secret rm github'],
  async run(context, { operands: { names }, values: { force, owner } }) {
    const { secrets } = await context.paddock();
    await each(context, names, async (name) => {
      await secrets.delete(name, { ownerId: owner, force, signal: context.signal });
      return name;
    });
  },
});
