import { command } from '../command.ts';

export default command({
  name: 'secret rm',
  summary: 'remove secrets',
  usage: 'NAME...',
  options: {
    force: { type: 'boolean', short: 'f', help: 'although sandboxes are bound to them' },
    owner: { type: 'string', value: 'OWNER', help: 'of this owner; for admins' },
  },
  examples: ['paddock secret rm github'],
  operands: [1, 1000],
  async run(context, { operands, values: { force, owner } }) {
    const { out, signal } = context;
    const { secrets } = await context.paddock();
    for (const name of operands) {
      await secrets.delete(name, { ownerId: owner, force, signal });
      if (!out.json) out.line(name);
    }
    if (out.json) out.value({ removed: operands.length });
    return 0;
  },
});
