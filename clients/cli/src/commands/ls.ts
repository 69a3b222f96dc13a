import type { Sandbox } from '../../../typescript/src/contract/messages.ts';
import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { labelsOf } from '../exec/pairs.ts';
import { NAME_LABEL } from '../resolve.ts';
import { timeText } from '../status.ts';

const STATES: readonly string[] = ['pending', 'running', 'stopped', 'error'] satisfies Sandbox['status'][];

export default command({
  name: 'ls',
  summary: 'list sandboxes',
  usage: '',
  options: {
    quiet: { type: 'boolean', short: 'q', help: 'only the ids' },
    name: { type: 'string', value: 'NAME', help: 'only those of this name' },
    label: { type: 'string', short: 'l', multiple: true, value: 'KEY=VALUE', help: 'only those with this label' },
    owner: { type: 'string', value: 'OWNER', help: 'only those of this owner' },
    status: { type: 'string', value: 'STATUS', help: `only those that are ${STATES.join(', ')}` },
  },
  examples: ['paddock ls', 'paddock ls --label team=a --status running', 'paddock rm $(paddock ls -q)'],
  operands: [0, 0],
  async run({ out, paddock, signal }, { values }) {
    const { name, label, owner, status } = values;
    if (status !== undefined && !STATES.includes(status)) throw new UsageError(`--status is ${STATES.join(', ')}`);
    const labels = { ...labelsOf(label), ...(name !== undefined && { [NAME_LABEL]: name }) };
    const state = status && { status: status as Sandbox['status'] };
    const found: Sandbox[] = [];
    for await (const each of (await paddock()).sandboxes.list({ labels, ownerId: owner, ...state, signal })) {
      found.push(each);
    }
    if (out.json) out.value(found);
    else if (values.quiet) for (const { id } of found) out.line(id);
    else out.table(['SANDBOX', 'NAME', 'STATUS', 'OWNER', 'CREATED', 'LABELS'], found.map(rowOf));
    return 0;
  },
});

function rowOf(sandbox: Sandbox): string[] {
  const { id, status, ownerId, createdAt, labels } = sandbox;
  const { [NAME_LABEL]: name = '', ...others } = labels;
  // Those of this program say nothing to its user.
  const shown = Object.entries(others).filter(([key]) => !key.startsWith('paddock.'));
  const text = shown.map(([key, value]) => `${key}=${value}`).join(' ');
  return [id, name, status, ownerId, timeText(createdAt), text];
}
