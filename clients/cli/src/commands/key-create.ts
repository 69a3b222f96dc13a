import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { durationOf } from '../exec/durations.ts';
import { sandboxIdOf } from '../resolve.ts';

const ROLES = ['admin', 'owner', 'agent'];

export default command({
  name: 'key create',
  summary: 'create a key, and print it: only once',
  usage: '[NAME]',
  details: `Without --role it is a key of role agent with --sandbox, and of role owner otherwise.
The first key of a server is made on its host: paddock key create --admin (docs/access.md).`,
  options: {
    role: { type: 'string', value: 'ROLE', help: 'admin, owner or agent' },
    sandbox: { type: 'string', value: 'SANDBOX', help: 'the only sandbox of a key of role agent' },
    owner: { type: 'string', value: 'OWNER', help: 'owner of a key of role owner (default: your own)' },
    scope: { type: 'string', multiple: true, value: 'SCOPE', help: 'only this, for example files:read' },
    'expires-in': { type: 'string', value: 'TIME', help: 'like 30m or 24h (default: never)' },
  },
  examples: ['paddock key create --sandbox SANDBOX agent-7', 'paddock key create --owner ann --expires-in 24h ci'],
  operands: [0, 1],
  async run(context, { values, operands }) {
    const { sandbox, owner, scope, role = sandbox === undefined ? 'owner' : 'agent' } = values;
    if (!ROLES.includes(role)) throw new UsageError(`--role is admin, owner or agent, not ${JSON.stringify(role)}`);
    const expires = values['expires-in'];
    const expiresIn = expires === undefined ? undefined : durationOf('expires-in', expires);
    const paddock = await context.paddock();
    const sandboxId = sandbox === undefined ? undefined : await sandboxIdOf(paddock, sandbox, context);
    const name = operands[0] ?? `${role} of the command line`;
    const request = { name, role, sandboxId, ownerId: owner, scopes: scope, expiresIn };
    const created = await paddock.keys.create(request, { signal: context.signal });
    context.out.result(created, () => created.secret);
    if (!context.out.json) context.out.note('this is the key; it is not shown again');
    return 0;
  },
});
