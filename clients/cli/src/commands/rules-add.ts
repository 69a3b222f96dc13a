import type { Permission, PermissionRule } from '../../../typescript/src/contract/messages.ts';
import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { findSandbox } from '../find-sandbox.ts';
import { rulesOf } from '../sandbox-options.ts';

export default command({
  name: 'rules add',
  summary: 'add rules to those of a sandbox; they decide over the others',
  usage: 'SANDBOX LEVEL:PATTERN...',
  details: `
They do not decide over what presets say about the contents of secrets, and of the hooks and the configuration of git.
"shown:PATTERN" shows such files as they are, and lets them be changed where other rules do.`,
  options: {
    priority: { type: 'string', value: 'N', help: 'default: 100' },
    merge: { type: 'boolean', help: 'redacted files can be written; a commit puts values back' },
  },
  examples: ["paddock rules add ID 'write:docs/**'", 'paddock rules add ID --merge redacted:.env'],
  operands: [2, Number.POSITIVE_INFINITY],
  async run(context, { operands: [id, ...given], values: { priority = '100', merge = false } }) {
    if (!/^-?\d{1,9}$/.test(priority)) throw new UsageError('--priority is a number');
    const levels = rulesOf(given);
    if (merge && levels.redacted === undefined) throw new UsageError('--merge needs a rule with redacted');
    const added = Object.entries(levels).flatMap(([level, patterns]) =>
      patterns.map((pattern) => longForm(level, pattern, Number(priority), merge)),
    );
    const sandbox = await findSandbox(context, id!);
    const permissions = [...added, ...sandbox.info.permissions];
    const info = await sandbox.rules.set({ permissions }, { signal: context.signal });
    // Those of the rules that were there are old news.
    for (const { message, rule } of info.warnings) if (rule < added.length) context.out.warn(message);
    context.out.result(info.permissions, () => `${info.permissions.length} rules`);
    return 0;
  },
});

/** As the short form of the service: a pattern without special characters is a path with everything below it. */
function longForm(level: string, pattern: string, priority: number, merge: boolean): PermissionRule {
  const type = /[*?[\]{}\\]/.test(pattern) ? 'glob' : 'directory';
  const rule = { pattern, type, priority } as const;
  if (level === 'shown') return { ...rule, permission: 'none', contents: 'shown' };
  if (level === 'scratch') return { ...rule, permission: 'write', scratch: true };
  if (level === 'redacted') {
    return { ...rule, permission: 'read', view: 'redacted', ...(merge && { onWrite: 'merge' }) };
  }
  return { ...rule, permission: level as Permission };
}
