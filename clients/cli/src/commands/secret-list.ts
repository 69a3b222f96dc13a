import { all } from '../../../typescript/src/pages.ts';
import { command } from '../command.ts';
import { agoText } from '../process-text.ts';

export default command({
  name: 'secret list',
  summary: 'list secrets, without their values',
  usage: '',
  options: {
    owner: { type: 'string', value: 'OWNER', help: 'only secrets of this owner' },
    quiet: { type: 'boolean', short: 'q', help: 'only the names' },
  },
  examples: ['paddock secret list'],
  operands: [0, 0],
  async run(context, { values: { owner, quiet } }) {
    const { out, signal } = context;
    const { secrets } = await context.paddock();
    const found = await all(secrets.list({ signal, ownerId: owner }));
    if (out.json) out.value(found);
    else if (quiet) for (const { name } of found) out.line(name);
    else {
      const rows = found.map((each) => [
        each.name,
        each.ownerId,
        each.hosts.join(','),
        each.parts.join(','),
        `${agoText(each.updatedAt)} ago`,
        String(each.usedBy.length),
      ]);
      out.table(['SECRET', 'OF', 'HOSTS', 'PARTS', 'SET', 'SANDBOXES'], rows);
    }
    return 0;
  },
});
