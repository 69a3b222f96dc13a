import { command, optional, some } from '../command-line/command.ts';
import { sandboxIdOf } from '../names/sandboxes.ts';
import { wholeSecondsOf } from '../options/durations.ts';
import { printableName } from '../output/printable.ts';
import { agoText, spanText } from '../output/process-text.ts';
import { each } from './each.ts';

export const create = command({
  summary: 'create a key, and print it: only once',
  details: `Without --role it is a key of role agent with --sandbox, and of role owner otherwise.
The first key of a server is made on its host: paddock key create --admin (docs/access.md).`,
  operands: { name: optional('NAME') },
  options: {
    role: { oneOf: ['admin', 'owner', 'agent'], help: 'what the key may do' },
    sandbox: { value: 'SANDBOX', help: 'the only sandbox of a key of role agent' },
    owner: { value: 'OWNER', help: 'owner of a key of role owner (default: your own)' },
    scope: { multiple: true, value: 'SCOPE', help: 'only this, for example files:read' },
    'expires-in': { value: 'TIME', read: wholeSecondsOf, help: 'like 30m or 24h (default: never)' },
  },
  examples: ['paddock key create --sandbox SANDBOX agent-7', 'paddock key create --owner ann --expires-in 24h ci'],
  async run({ out, signal, ...context }, { values, operands }) {
    const { sandbox, owner, scope, role = sandbox === undefined ? 'owner' : 'agent', 'expires-in': expiresIn } = values;
    const paddock = await context.paddock();
    const sandboxId = sandbox === undefined ? undefined : await sandboxIdOf(paddock, sandbox, { signal });
    const { name = `${role} of the command line` } = operands;
    const request = { name, role, sandboxId, ownerId: owner, scopes: scope, expiresIn };
    const created = await paddock.keys.create(request, { signal });
    out.result(created, () => created.secret);
    if (!out.json) out.note('this is the key; it is not shown again');
  },
});

export const ls = command({
  summary: 'list keys',
  operands: {},
  options: {
    owner: { value: 'OWNER', help: 'only keys of this owner' },
    quiet: { short: 'q', help: 'only the ids' },
  },
  examples: ['paddock key ls'],
  async run({ out, signal, paddock }, { values: { owner, quiet } }) {
    const { keys } = await paddock();
    await out.list(keys.list({ signal, ...(owner && { ownerId: owner }) }), {
      heading: ['KEY', 'NAME', 'ROLE', 'OF', 'EXPIRES', 'USED'],
      row: ({ id, name, role, sandboxId, ownerId, expiresAt, lastUsedAt }) => [
        id,
        name,
        role,
        role === 'agent' ? sandboxId : ownerId,
        expiryText(expiresAt),
        lastUsedAt ? `${agoText(lastUsedAt)} ago` : 'never',
      ],
      quiet: quiet && (({ id }) => id),
    });
  },
});

function expiryText(time: Date | undefined): string {
  if (time === undefined) return 'never';
  const left = (time.getTime() - Date.now()) / 1000;
  return left <= 0 ? 'expired' : `in ${spanText(left)}`;
}

export const revoke = command({
  summary: 'revoke keys: what uses them ends at once',
  details: 'A key is named by its id, the 8 letters and digits after "pdk_", as "paddock key ls" shows it.',
  operands: { keys: some('KEY') },
  options: {},
  examples: ['paddock key revoke 7f3a9c2e'],
  async run(context, { operands }) {
    const { keys } = await context.paddock();
    await each(context, operands.keys, async (given) => {
      // Of a whole key, nothing but the id is sent.
      const id = /^pdk_([a-z0-9]{8})(_|$)/.exec(given)?.[1] ?? given;
      await keys.revoke(id, context.call);
      return id;
    });
  },
});

export const whoami = command({
  summary: 'show what the key in use may do',
  operands: {},
  options: {},
  examples: ['paddock key whoami'],
  async run(context) {
    const paddock = await context.paddock();
    const caller = await paddock.caller(context.call);
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
  },
});
