import { readFile } from 'node:fs/promises';
import type { Permission, PermissionRule } from 'paddock-sandbox';
import { command, one, optional, some } from '../command-line/command.ts';
import { CliError, UsageError } from '../command-line/errors.ts';
import { ruleOptionsOf, rulesOf, SANDBOX_OPTIONS } from '../options/sandbox.ts';
import { printableName } from '../output/printable.ts';

export const set = command({
  summary: 'replace the rules of a sandbox, also for files that are open',
  details: 'FILE has a list of rules in JSON, as "paddock rules get SANDBOX --json" prints it. "-" is standard input.',
  operands: { sandbox: one('SANDBOX'), file: optional('FILE') },
  options: { preset: SANDBOX_OPTIONS.preset, rule: SANDBOX_OPTIONS.rule, show: SANDBOX_OPTIONS.show },
  examples: [
    "paddock rules set SANDBOX --preset agent-safe --rule 'write:src/**'",
    'paddock rules set SANDBOX rules.json',
  ],
  async run(context, { operands: { sandbox: given, file }, values }) {
    if (Object.keys(values).length > 0 === (file !== undefined))
      throw new UsageError('name a file, or --preset and --rule');
    const rules = file === undefined ? ruleOptionsOf(values) : { preset: 'none', permissions: await readRules(file) };
    const { warnings, permissions } = await (await context.sandbox(given)).rules.set(rules, context.call);
    for (const { message } of warnings) context.out.warn(message);
    context.out.result(permissions, () => `${permissions.length} rules`);
  },
});

async function readRules(file: string): Promise<PermissionRule[]> {
  const text = await readFile(file === '-' ? '/dev/stdin' : file, 'utf8').catch((error: Error) => {
    throw new CliError(`the rules cannot be read: ${error.message}`);
  });
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value;
  } catch {
    // The same refusal.
  }
  throw new CliError(`${printableName(file)} is no list of rules in JSON`);
}

export const add = command({
  summary: 'add rules to those of a sandbox; they decide over the others',
  details: `They do not decide over what presets say about contents: secrets, and the hooks and the configuration of git.
"shown:PATTERN" shows such files as they are, and lets them be changed where other rules do.`,
  operands: { sandbox: one('SANDBOX'), rules: some('LEVEL:PATTERN') },
  options: {
    priority: { value: 'N', read: priorityOf, help: 'the highest decides (default: 100)' },
    merge: { help: 'redacted files can be written; a commit puts values back' },
  },
  examples: ["paddock rules add SANDBOX 'write:docs/**'", 'paddock rules add SANDBOX --merge redacted:.env'],
  async run(context, { operands, values: { priority = 100, merge = false } }) {
    const levels = rulesOf(operands.rules);
    if (merge && levels.redacted === undefined) throw new UsageError('--merge needs a rule with redacted');
    const added = Object.entries(levels).flatMap(([level, patterns]) =>
      patterns.map((pattern) => longForm(level, pattern, priority, merge)),
    );
    const sandbox = await context.sandbox(operands.sandbox);
    const info = await sandbox.rules.set(
      { preset: 'none', permissions: [...added, ...sandbox.info.permissions] },
      context.call,
    );
    // Those of the rules that were there are old news.
    for (const { message, rule } of info.warnings) if (rule < added.length) context.out.warn(message);
    context.out.result(info.permissions, () => `${info.permissions.length} rules`);
  },
});

function priorityOf(option: string, text: string): number {
  if (!/^-?\d{1,9}$/.test(text)) throw new UsageError(`--${option} is a number, not ${JSON.stringify(text)}`);
  return Number(text);
}

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
