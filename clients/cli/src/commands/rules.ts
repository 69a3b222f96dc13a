import type { PermissionRule } from '../../../typescript/src/contract/messages.ts';
import { command } from '../command.ts';
import { findSandbox } from '../find-sandbox.ts';
import { ruleRow } from '../rule-text.ts';

export default command({
  name: 'rules',
  summary: 'list the rules of a sandbox, by priority',
  usage: 'SANDBOX',
  options: {},
  examples: ['paddock rules ID', 'paddock rules ID --json > rules.json'],
  operands: [1, 1],
  async run(context, { operands: [id] }) {
    const { permissions } = (await findSandbox(context, id!)).info;
    if (context.out.json) context.out.value(permissions);
    else context.out.table(['LEVEL', 'PATTERN', 'TYPE', 'PRIORITY'], sorted(permissions).map(ruleRow));
    return 0;
  },
});

const sorted = (rules: readonly PermissionRule[]): PermissionRule[] =>
  [...rules].sort((a, b) => b.priority - a.priority);
