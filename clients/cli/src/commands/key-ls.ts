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
      const rows = found.map((key) => [
        key.id,
        key.name,
        key.role,
        key.role === 'agent' ? key.sandboxId : key.ownerId,
        expiryText(key.expiresAt),
        key.lastUsedAt ? `${agoText(key.lastUsedAt)} ago` : 'never',
      ]);
      out.table(['KEY', 'NAME', 'ROLE', 'OF', 'EXPIRES', 'USED'], rows);
    }
    return 0;
  },
});

function expiryText(time: Date | undefined): string {
  if (time === undefined) return 'never';
  const left = (time.getTime() - Date.now()) / 1000;
  return left <= 0 ? 'expired' : `in ${spanText(left)}`;
}
