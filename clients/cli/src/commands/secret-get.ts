import { command } from '../command.ts';

export default command({
  name: 'secret get',
  summary: 'show a secret, without its value',
  usage: 'NAME',
  options: { owner: { type: 'string', value: 'OWNER', help: 'of this owner; for admins' } },
  examples: ['paddock secret get github'],
  operands: [1, 1],
  async run(context, { operands: [name], values: { owner } }) {
    const { out, signal } = context;
    const { secrets } = await context.paddock();
    const { hosts, parts, header, revision, usedBy, ...found } = await secrets.get(name!, { ownerId: owner, signal });
    if (out.json) out.value({ ...found, hosts, parts, header, revision, usedBy });
    else {
      const rows = [
        ['hosts', hosts.join(', ')],
        ['parts', parts.join(', ')],
        ...(header === undefined ? [] : [['header', header]]),
        ['revision', String(revision)],
        ['sandboxes', usedBy.join(', ')],
      ];
      out.table([found.name, ''], rows);
    }
    return 0;
  },
});
