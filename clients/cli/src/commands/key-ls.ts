import { all } from '../../../typescript/src/pages.ts';
import { command } from '../command.ts';
import { agoText, spanText } from '../process-text.ts';

export default command({
  name: 'key ls',
  summary: 'list keys',
  usage: '',
  options: {
    owner: { type: 'string', value: 'OWNER', help: 'only keys of this owner' },
    quiet: { type: 'boolean', short: 'q', help: 'only the ids' },
  },
  examples: ['paddock key ls'],
  operands: [0, 0],
  async run(context, { values }) {
    const { out, signal } = context;
    const { keys } = await context.paddock();
    const found = await all(keys.list({ signal, ...(values.owner && { ownerId: values.owner }) }));
    if (out.json) out.value(found);
    else if (values.quiet) for (const { id } of found) out.line(id);
    else {
      const now = Date.now() / 1000;
      const rows = found.map((key) => [
        key.id,
        key.name,
        key.role,
        key.role === 'agent' ? key.sandboxId : key.ownerId,
        key.expiresAt === 0 ? 'never' : key.expiresAt <= now ? 'expired' : `in ${spanText(key.expiresAt - now)}`,
        key.lastUsedAt === 0 ? 'never' : `${agoText(key.lastUsedAt)} ago`,
      ]);
      out.table(['KEY', 'NAME', 'ROLE', 'OF', 'EXPIRES', 'USED'], rows);
    }
    return 0;
  },
});
