import { readFile } from 'node:fs/promises';
import type { PermissionRule } from '../../../typescript/src/contract/messages.ts';
import { command } from '../command.ts';
import { CliError, UsageError } from '../errors.ts';
import { findSandbox } from '../find-sandbox.ts';
import { printableName } from '../printable.ts';
import { ruleOptionsOf } from '../sandbox-options.ts';

export default command({
  name: 'rules set',
  summary: 'replace the rules of a sandbox, also for files that are open',
  usage: 'SANDBOX [FILE]',
  details: 'FILE has a list of rules in JSON, as "paddock rules SANDBOX --json" writes it. "-" is standard input.',
  options: {
    preset: { type: 'string', value: 'NAME', help: 'set of rules; "none": only those of --rule' },
    rule: { type: 'string', multiple: true, value: 'LEVEL:PATTERN', help: 'rule, like write:src/**' },
    show: { type: 'string', multiple: true, value: 'PATTERN', help: 'show files that the preset redacts' },
  },
  examples: ["paddock rules set ID --preset agent-safe --rule 'write:src/**'", 'paddock rules set ID rules.json'],
  operands: [1, 2],
  async run(context, { operands: [id, file], values }) {
    const given = values.preset !== undefined || values.rule !== undefined || values.show !== undefined;
    if (given === (file !== undefined)) throw new UsageError('name a file, or --preset and --rule');
    const permissions = file === undefined ? undefined : await readRules(file);
    const sandbox = await findSandbox(context, id!);
    const rules = permissions ? { permissions } : ruleOptionsOf(values);
    const info = await sandbox.rules.set(rules, { signal: context.signal });
    for (const { message } of info.warnings) context.out.warn(message);
    context.out.result(info.permissions, () => `${info.permissions.length} rules`);
    return 0;
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
