import { command } from '../command.ts';
import { printableName } from '../printable.ts';

export default command({
  name: 'key whoami',
  summary: 'what the key in use may do',
  usage: '',
  options: {},
  examples: ['paddock key whoami'],
  operands: [0, 0],
  async run(context) {
    const paddock = await context.paddock();
    const caller = await paddock.caller(context);
    context.out.result(caller, () => {
      const rows: [string, string][] = [
        ['server', paddock.api.settings.url],
        ['key', caller.key ? `${caller.key.mask} (${caller.key.name})` : 'none: the server does not ask for keys'],
        ['role', caller.role],
        ['owner', caller.ownerId || 'every owner'],
        ['sandbox', caller.sandboxId || 'not restricted'],
        ['scopes', caller.scopes.join(', ') || 'all of the role'],
      ];
      return rows.map(([name, value]) => `${name.padEnd(9)}${printableName(value)}`).join('\n');
    });
    return 0;
  },
});
